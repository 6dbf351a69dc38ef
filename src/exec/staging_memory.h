// SPDX-License-Identifier: Apache-2.0
// Memory for files on their way to a GPU: many small pieces that lie close together in few large blocks, so that a
// decoder uploads a batch of files with few copies.
#pragma once
#include <memory>
#include <mutex>

#include "base/memory.h"

namespace penstock {

// Pieces are handed out from one block, one after the other; a block goes back when its last piece has. Thread-safe. A
// piece is free at once when it is given back: whoever has the device read it keeps it until then.
class StagingMemory final : public MemoryResource {
 public:
  static constexpr size_t kFirstBlock = size_t{1} << 20, kLargestBlock = size_t{16} << 20;

  explicit StagingMemory(std::shared_ptr<MemoryResource> from) : from_(std::move(from)) {}
  ~StagingMemory() override;
  void* allocate(size_t bytes, StreamHandle = nullptr) override;
  void deallocate(void* p, size_t bytes, StreamHandle = nullptr) noexcept override;
  Device device() const override { return from_->device(); }

 private:
  struct Block {
    char* memory;
    size_t bytes, taken = 0;
    size_t pieces = 0;  // not given back
  };
  void leave(Block* block) noexcept;  // nothing more is taken from it

  std::shared_ptr<MemoryResource> from_;
  std::mutex mutex_;
  Block* current_ = nullptr;
  size_t next_bytes_ = kFirstBlock;
};

}  // namespace penstock
