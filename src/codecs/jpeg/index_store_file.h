// SPDX-License-Identifier: Apache-2.0
// The file of entropy indexes on disk: who may use it, the lock between processes, reading and appending segments.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>

#include "codecs/jpeg/index_store_format.h"

namespace penstock {

using WriteCall = ssize_t (*)(int, const void*, size_t, off_t);  // stands in for pwrite in tests

// Not thread-safe but for read(). Nothing here throws for what is wrong with the file; texts say why it cannot be used.
class IndexFile {
 public:
  // private_file: in the user's cache folder, so it and its folder must be the user's and closed to others' writing.
  IndexFile(std::string path, bool private_file, WriteCall write);
  ~IndexFile();
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_open() const { return descriptor_ >= 0; }
  bool writable() const { return writable_; }
  // "" where it is open now or, without `create`, where there is no such file yet.
  std::string open(bool create);
  bool was_replaced() const;  // the path leads to another file than the open one
  int64_t end() const { return end_; }
  int64_t size() const;

  // Whole file to one process at a time. False where another holds it; true as well where the file system cannot lock:
  // two writers then cost each other entries, which sums find out.
  bool try_lock();
  void unlock();

  using Visit = std::function<void(uint64_t key, int64_t offset, uint32_t bytes)>;
  // The entries behind those of the last call. A segment that is not complete yet is left for the next call, or passed
  // over where `locked` says that nobody is writing it.
  void read_new(bool locked, const Visit& visit);
  // False where the file does not hold these bytes (any more).
  bool read(int64_t offset, uint32_t bytes, uint8_t* to) const;
  // Under the lock and behind read_new(true). Where it fails, the file is as before, or its new end is passed over.
  std::string append(std::span<const uint8_t> segment, int64_t& at);

 private:
  std::string refusal() const;
  std::string path_;
  bool private_ = false, writable_ = false;
  WriteCall write_;
  int descriptor_ = -1;
  int64_t end_ = 0;  // of the segments that were read
};

}  // namespace penstock
