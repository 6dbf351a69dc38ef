// SPDX-License-Identifier: Apache-2.0
#include "exec/output_memory.h"

#include <utility>

#include "batch/memory_reuse.h"

namespace penstock {

struct OutputMemory::Token {
  explicit Token(std::shared_ptr<Slots> s) : slots(std::move(s)) {
    std::lock_guard lock(slots->mutex);
    ++slots->alive;
  }
  ~Token() {
    std::lock_guard lock(slots->mutex);
    --slots->alive;
    if (slots->room && slots->wanted.exchange(false)) slots->room();
  }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;
  std::shared_ptr<Slots> slots;
};

OutputMemory::OutputMemory(const PipelineOptions& options, std::function<void()> room) : options_(options) {
  slots_->room = std::move(room);
}

void OutputMemory::close() {
  std::lock_guard lock(slots_->mutex);
  slots_->room = nullptr;
}

std::shared_ptr<void> OutputMemory::token(Iteration& it) {
  std::lock_guard lock(it.error_mutex);
  std::shared_ptr<void> token = it.slot.lock();
  if (!token) it.slot = token = std::make_shared<Token>(slots_);
  return token;
}

std::shared_ptr<void> OutputMemory::take(Iteration& it, size_t bytes) {
  auto kept = token(it);
  auto memory = allocate_shared(options_.memory, bytes);
  void* p = memory.get();
  // The token last, so that the memory is free when a waiting worker looks.
  return std::shared_ptr<void>(p, FreeWithToken{std::move(memory), std::move(kept)});
}

void OutputMemory::check(size_t bytes) const {
  if (options_.memory_limit && bytes > options_.memory_limit)
    fail(ErrorKind::out_of_memory, "a batch of {} bytes or more exceeds the pipeline's memory_limit of {}", bytes,
         options_.memory_limit);
}

void OutputMemory::check(std::span<const Batch> batches) const {
  if (!options_.memory_limit) return;
  size_t bytes = 0;
  for (const Batch& b : batches)
    for (int i = 0; i < b.size(); ++i)
      if (b.shape(i).known()) check(bytes += checked_bytes(b.shape(i).volume(), size_of(b.dtype())));
}

bool OutputMemory::has_room(int most) {
  std::lock_guard lock(slots_->mutex);
  if (slots_->alive < most) return true;
  slots_->wanted = true;
  return false;
}

}  // namespace penstock
