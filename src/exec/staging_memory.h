// SPDX-License-Identifier: Apache-2.0
// Memory for files that go to a GPU: many small pieces, close together in few large blocks, so that a
// decoder uploads a batch of files with few copies.
#pragma once
#include <memory>
#include <mutex>

#include "base/memory.h"

namespace penstock {

// Pieces come from one block, in order; a block is freed with its last piece. Thread-safe. A
// piece is free as soon as it is returned: if the device reads it, the caller must keep it until then.
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
    size_t pieces = 0;  // not yet returned
  };
  void leave(Block* block) noexcept;  // no more pieces are taken from it

  std::shared_ptr<MemoryResource> from_;
  std::mutex mutex_;
  Block* current_ = nullptr;
  size_t next_bytes_ = kFirstBlock;
};

}  // namespace penstock
