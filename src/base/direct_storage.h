// SPDX-License-Identifier: Apache-2.0
// Files straight into a GPU's memory, past the host's: what NVIDIA calls GPUDirect Storage.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace penstock {

// A file that stays open; any thread may read it.
class DirectFile {
 public:
  virtual ~DirectFile() = default;
  // Reads `bytes` at `offset` of the file to `memory + at`, `memory` being where a block of device memory begins. The
  // bytes are there when it returns. Gives how many there were, fewer where the file ends; or -1 where it is refused,
  // then `why` says so.
  virtual int64_t read(void* memory, int64_t at, int64_t bytes, int64_t offset, std::string& why) const = 0;
};

class DirectStorage {
 public:
  virtual ~DirectStorage() = default;
  virtual std::string name() const = 0;  // "cuFile, /…/libcufile.so.0"
  // Null where this file cannot be read so (its file system, or there is none); then `why` says so.
  virtual std::unique_ptr<DirectFile> open(int device, const std::string& path, std::string& why) = 0;
  // Makes reads into a block cheaper, until it is dropped; false where that is refused, which is no fault.
  virtual bool add_memory(int device, void* block, size_t bytes) = 0;
  virtual void drop_memory(int device, void* block) noexcept = 0;
};

// That of the library that gpu_backend() has loaded. Null where there is none, then `why` says so.
DirectStorage* direct_storage(std::string& why);
// For that library: exported as `extern "C" penstock::DirectStorage* penstock_direct_storage(std::string* why)`.
constexpr const char* kDirectStorageEntry = "penstock_direct_storage";

}  // namespace penstock
