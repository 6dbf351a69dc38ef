// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of container formats share: bytes as a file, and errors of the data as the one way to end badly.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "data/container.h"
#include "data/container_index.h"

namespace penstock::fuzz {

// A file in memory.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Anything but an error of the data is a fault.
template <class F> void may_refuse(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::data) std::abort();
  }
}

// The index of the bytes as a file; all of its records must lie inside.
inline ContainerIndex scanned(const ContainerFormat& format, const uint8_t* data, size_t size) {
  const MemoryFile file(data, size);
  const OpenFile open(file.path());
  FileScan through(open);
  ContainerIndex index = format.scan(through);
  if (first_outside(index, static_cast<int64_t>(size)) >= 0) std::abort();
  return index;
}

inline std::vector<uint8_t> record_of(const ContainerIndex& index, int64_t i, const uint8_t* data) {
  return {data + index.offsets[i], data + index.offsets[i] + index.lengths[i]};
}

}  // namespace penstock::fuzz
