// SPDX-License-Identifier: Apache-2.0
#include "exec/gpu_work.h"

#include "base/error_of.h"
#include "base/gpu_library.h"
#include "batch/transfer.h"
#include "exec/staging_memory.h"

namespace penstock {
namespace {

class CountedMemory final : public MemoryResource {
 public:
  CountedMemory(std::shared_ptr<MemoryResource> from, std::shared_ptr<std::atomic<size_t>> in_use, size_t largest = 0)
      : from_(std::move(from)), in_use_(std::move(in_use)), largest_(largest) {}
  void* allocate(size_t bytes, StreamHandle stream) override {
    if (largest_ && bytes > largest_)
      fail(ErrorKind::out_of_memory, "a batch of {} bytes on the GPU exceeds the pipeline's memory_limit of {}", bytes,
           largest_);
    void* p = from_->allocate(bytes, stream);
    *in_use_ += bytes;
    return p;
  }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    from_->deallocate(p, bytes, stream);
    *in_use_ -= bytes;
  }
  Device device() const override { return from_->device(); }

 private:
  std::shared_ptr<MemoryResource> from_;
  std::shared_ptr<std::atomic<size_t>> in_use_;
  size_t largest_;
};

class TokenMemory final : public MemoryResource {
 public:
  TokenMemory(std::shared_ptr<MemoryResource> from, std::shared_ptr<void> token)
      : token_(std::move(token)), from_(std::move(from)) {}
  void* allocate(size_t bytes, StreamHandle stream) override { return from_->allocate(bytes, stream); }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override { from_->deallocate(p, bytes, stream); }
  Device device() const override { return from_->device(); }

 private:
  std::shared_ptr<void> token_;
  std::shared_ptr<MemoryResource> from_;
};

}  // namespace

void GpuWork::check(int device) {
  const int count = gpu_library().runtime().device_count();
  if (device < 0 || device >= count) bad_argument("there is no GPU {}: this machine has {}", device, count);
}

GpuWork::Streams::~Streams() {
  for (StreamHandle s : taken) {
    error_of([&] { runtime.synchronize(device, s); });  // an error of the device was already reported
    runtime.give_back_stream(device, s);
  }
}

GpuWork::GpuWork(int device, int streams, size_t memory_limit)
    : device_(device),
      iterations_(static_cast<size_t>(streams)),
      runtime_(gpu_library().runtime()),
      streams_{runtime_, device, {}} {
  check(device);
  for (int i = 0; i < streams; ++i) streams_.taken.push_back(runtime_.take_stream(device_));
  memory_ = std::make_shared<CountedMemory>(runtime_.memory(device_), in_use_, memory_limit);
  pinned_ = runtime_.pinned_memory();
  staging_ = std::make_shared<StagingMemory>(std::make_shared<CountedMemory>(pinned_, staging_in_use_));
}

StreamHandle GpuWork::own_stream() {
  streams_.taken.push_back(runtime_.take_stream(device_));
  return streams_.taken.back();
}

GpuWork::~GpuWork() { silence(); }

void GpuWork::silence() {
  std::lock_guard lock(alive_->mutex);
  alive_->alive = false;
}

void GpuWork::notify(StreamHandle stream, std::function<void()> f) {
  runtime_.notify(device_, stream, [alive = alive_, f = std::move(f)] {
    std::lock_guard lock(alive->mutex);
    if (alive->alive) f();
  });
}

void GpuWork::copy(const Batch& from, Batch& to, StreamHandle stream) {
  const bool written = from.device().kind == DeviceKind::cpu || from.size() > kCopiedOneByOne;
  const ptrdiff_t padding = written ? 64 : 1;  // of samples in one block
  const char* begin = nullptr;
  char* target = nullptr;
  size_t bytes = 0;
  const auto flush = [&] {
    if (bytes) runtime_.copy(device_, target, begin, bytes, stream);
  };
  for (int i = 0; i < from.size(); ++i) {
    const Batch::Sample &a = from.sample(i), &b = to.sample(i);
    const size_t size = checked_bytes(a.shape.volume(), size_of(from.dtype()));
    if (size == 0) continue;
    const auto* p = static_cast<const char*>(a.data);
    auto* q = static_cast<char*>(b.data);
    const ptrdiff_t gap = p - (begin + bytes);
    if (bytes && !a.owner && !b.owner && gap >= 0 && gap < padding && p - begin == q - target) {
      bytes = static_cast<size_t>(p - begin) + size;
    } else {
      flush();
      begin = p, target = q, bytes = size;
    }
  }
  flush();
}

std::shared_ptr<MemoryResource> with_token(std::shared_ptr<MemoryResource> from, std::shared_ptr<void> token) {
  return std::make_shared<TokenMemory>(std::move(from), std::move(token));
}

}  // namespace penstock
