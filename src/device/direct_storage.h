// SPDX-License-Identifier: Apache-2.0
// Reads files directly into a GPU's memory, not through the host's: what NVIDIA calls GPUDirect Storage.
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
  // Reads `bytes` at `offset` of the file to `memory + at`; `memory` is the start of a block of device memory. The
  // bytes are there on return. Returns how many there were, fewer where the file ends; or -1 where the read is refused:
  // `why` then says why.
  virtual int64_t read(void* memory, int64_t at, int64_t bytes, int64_t offset, std::string& why) const = 0;
};

class DirectStorage {
 public:
  virtual ~DirectStorage() = default;
  virtual std::string name() const = 0;  // "cuFile, /…/libcufile.so.0"
  // Null where this file cannot be read this way (by its file system, or because there is none); `why` then says why.
  virtual std::unique_ptr<DirectFile> open(int device, const std::string& path, std::string& why) = 0;
  // Makes reads into a block cheaper until the block is dropped. False where that is refused, which is not an error.
  virtual bool add_memory(int device, void* block, size_t bytes) = 0;
  virtual void drop_memory(int device, void* block) noexcept = 0;
};

// The DirectStorage of gpu_library(). Null if there is none; `why` then says why.
DirectStorage* direct_storage(std::string& why);
// For that library: exported as `extern "C" penstock::DirectStorage* penstock_direct_storage(std::string* why)`.
constexpr const char* kDirectStorageEntry = "penstock_direct_storage";

}  // namespace penstock
