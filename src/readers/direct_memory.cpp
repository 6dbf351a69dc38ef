// SPDX-License-Identifier: Apache-2.0
#include "readers/direct_memory.h"

#include <bit>

#include "base/error.h"
#include "base/error_of.h"
#include "base/notice.h"
#include "data/remote_client.h"

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

// Few sizes, so that blocks can be reused, and whole pages of storage.
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
  runtime_.synchronize(device_, stream_);  // waits for earlier users of this memory
  const bool known = registers_ && storage_.add_memory(device_, block, size);
  std::lock_guard lock(mutex_);
  blocks_[block] = known;
  return block;
}

void DirectMemory::deallocate(void* p, size_t bytes, StreamHandle stream) noexcept {
  std::shared_ptr<DeviceEvent> used;
  // If nothing can tell when a block is free, it is leaked.
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

std::shared_ptr<void> read_file_to_device(const std::shared_ptr<DirectMemory>& device, const std::string& path,
                                          StreamHandle stream, FileStamp& stamp) {
  if (!is_url(path)) {
    stamp = OpenFile(path).stamp();
    // Empty files and files above the limit are rejected below.
    const bool readable = stamp.bytes > 0 && stamp.bytes <= default_file_limit;
    if (const auto file = readable ? device->open(path) : nullptr) {
      auto memory = allocate_shared(device, static_cast<size_t>(stamp.bytes), stream);
      std::string why;
      const int64_t got = file->read(memory.get(), 0, stamp.bytes, 0, why);
      if (got < 0) fail_on(path, ErrorKind::data, "{}", why);
      if (got < stamp.bytes)
        fail_on(path, ErrorKind::data, "the file shrank while it was read: {} of {} bytes", got, stamp.bytes);
      return memory;
    }
  }
  std::shared_ptr<void> host;
  const auto room = [&](int64_t bytes) {
    host = allocate_shared(device->pinned(), static_cast<size_t>(bytes), stream);
    return static_cast<uint8_t*>(host.get());
  };
  const auto bytes = static_cast<size_t>(read_file_to(path, room, default_file_limit, &stamp));
  auto memory = allocate_shared(device, bytes, stream);
  device->upload(memory.get(), host.get(), bytes, stream);
  return memory;
}

}  // namespace penstock
