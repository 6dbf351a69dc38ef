// SPDX-License-Identifier: Apache-2.0
#include "exec/direct_memory.h"

#include <bit>

#include "base/error.h"
#include "base/notice.h"

namespace penstock {

DirectMemory::DirectMemory(DeviceRuntime& runtime, int device, std::shared_ptr<MemoryResource> from,
                           std::shared_ptr<MemoryResource> pinned, DirectStorage& storage, bool registers)
    : runtime_(runtime),
      device_(device),
      from_(std::move(from)),
      pinned_(std::move(pinned)),
      storage_(storage),
      registers_(registers),
      stream_(runtime.take_stream(device)) {}

DirectMemory::~DirectMemory() {
  for (auto& [bytes, list] : idle_)
    for (Idle& i : list) {
      if (blocks_[i.block]) storage_.drop_memory(device_, i.block);
      error_of([&] {
        if (i.used) runtime_.wait(device_, stream_, *i.used);
      });
      from_->deallocate(i.block, bytes, stream_);
    }
  runtime_.give_back_stream(device_, stream_);
}

// Few sizes, so that blocks fit again, and whole pages of storage.
size_t DirectMemory::block_bytes(size_t bytes) {
  constexpr size_t kLeast = size_t{64} << 10, kPiece = size_t{4} << 20;
  if (bytes <= kPiece) return std::max(kLeast, std::bit_ceil(bytes));
  if (bytes > SIZE_MAX - kPiece) fail(ErrorKind::out_of_memory, "{} bytes cannot be allocated", bytes);
  return (bytes + kPiece - 1) / kPiece * kPiece;
}

void* DirectMemory::allocate(size_t bytes, StreamHandle) {
  const size_t size = block_bytes(bytes);
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[size];
    for (auto i = idle.begin(); i != idle.end(); ++i)
      if (!i->used || i->used->done()) {
        void* block = i->block;
        idle.erase(i);
        return block;
      }
  }
  void* block = from_->allocate(size, stream_);
  runtime_.synchronize(device_, stream_);  // what was in this memory before is done
  const bool known = registers_ && storage_.add_memory(device_, block, size);
  std::lock_guard lock(mutex_);
  blocks_[block] = known;
  return block;
}

void DirectMemory::deallocate(void* p, size_t bytes, StreamHandle stream) noexcept {
  std::shared_ptr<DeviceEvent> used;
  // A block that nobody can say is free is kept for nobody.
  if (stream && error_of([&] { used = runtime_.record(device_, stream); })) return;
  std::lock_guard lock(mutex_);
  idle_[block_bytes(bytes)].push_back({p, std::move(used)});
}

std::unique_ptr<DirectFile> DirectMemory::open(const std::string& path) const {
  std::string why;
  auto file = storage_.open(device_, path, why);
  if (!file)
    notice(
        fmt::format("files are read into host memory and copied to the GPU from there: {} ({})", why, storage_.name()));
  return file;
}

}  // namespace penstock
