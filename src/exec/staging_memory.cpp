// SPDX-License-Identifier: Apache-2.0
#include "exec/staging_memory.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace penstock {

// Space after the pieces of each block, so that pieces that are close together are in one block: one copy can take all.
constexpr size_t kApart = 1024;
constexpr size_t kAlignment = 64;  // the address of a piece's block is stored before it, in as many bytes

StagingMemory::~StagingMemory() {
  if (current_) leave(current_);
}

void StagingMemory::leave(Block* block) noexcept {
  if (current_ == block) current_ = nullptr;
  if (block->pieces > 0) return;
  from_->deallocate(block->memory, block->bytes + kApart, nullptr);
  delete block;
}

void* StagingMemory::allocate(size_t bytes, StreamHandle) {
  if (bytes > SIZE_MAX - 2 * kAlignment) fail(ErrorKind::out_of_memory, "{} bytes cannot be allocated", bytes);
  const size_t needed = kAlignment + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::lock_guard lock(mutex_);
  Block* block = current_;
  if (!block || needed > block->bytes - block->taken) {
    const bool large = needed > next_bytes_ / 4;  // gets its own block
    auto made = std::make_unique<Block>();
    made->bytes = large ? needed : next_bytes_ - kApart;
    made->memory = static_cast<char*>(from_->allocate(made->bytes + kApart, nullptr));
    block = made.release();
    if (!large) {
      if (current_) leave(current_);
      current_ = block;
      next_bytes_ = std::min(2 * next_bytes_, kLargestBlock);
    }
  }
  char* const piece = block->memory + block->taken + kAlignment;
  block->taken += needed;
  ++block->pieces;
  std::memcpy(piece - kAlignment, &block, sizeof block);
  return piece;
}

void StagingMemory::deallocate(void* p, size_t, StreamHandle) noexcept {
  Block* block;
  std::memcpy(&block, static_cast<char*>(p) - kAlignment, sizeof block);
  std::lock_guard lock(mutex_);
  if (--block->pieces > 0) return;
  if (block != current_) leave(block);
  else block->taken = 0;
}

}  // namespace penstock
