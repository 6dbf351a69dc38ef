// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "cuda/cudart/device_memory.h"

namespace penstock {

size_t coarse_class(size_t bytes) {
  constexpr size_t kLeast = 4096;
  if (bytes <= kLeast) return kLeast;
  if (bytes > size_t{1} << 62) return 0;
  const size_t octave = std::bit_floor(bytes - 1);  // bytes is in (octave, 2 * octave]
  return bytes <= octave + octave / 2 ? octave + octave / 2 : 2 * octave;
}

namespace {

class LockedPages final : public MemoryResource {
 public:
  explicit LockedPages(const Gpus& gpus) : gpus_(gpus) {}
  void* allocate(size_t bytes, StreamHandle) override {
    OnDevice scope(gpus_);
    void* p = nullptr;
    const cudaError_t code = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      fail(ErrorKind::out_of_memory, "{} bytes of page-locked host memory cannot be allocated", bytes);
    }
    check_cuda(code, "allocating page-locked host memory", gpus_.any().index());
    return p;
  }
  void deallocate(void* p, size_t, StreamHandle) noexcept override {
    try {
      OnDevice scope(gpus_);
      static_cast<void>(cudaFreeHost(p));
    } catch (...) {
    }
  }

 private:
  const Gpus& gpus_;
};

// Blocks that graphs have given up. A graph that is destroyed may not wait for a thread that calls CUDA, so they have a
// mutex of their own.
struct GivenUp {
  std::mutex mutex;
  std::vector<std::pair<void*, size_t>> blocks;
};

// Keeps a block as long as the graph that the stream records, and what is made of it; false: it records none.
bool keep_with_graph(cudaStream_t on, void* p, size_t bytes, const std::shared_ptr<GivenUp>& to) {
  struct Kept {
    std::shared_ptr<GivenUp> to;
    std::pair<void*, size_t> block;
  };
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  if (cudaStreamGetCaptureInfo(on, &status, nullptr, &graph) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  if (status != cudaStreamCaptureStatusActive) return false;  // one that has failed will not run
  auto kept = std::make_unique<Kept>(to, std::pair{p, bytes});
  cudaUserObject_t object = nullptr;
  const auto give_up = [](void* of) {
    const std::unique_ptr<Kept> gone(static_cast<Kept*>(of));
    std::lock_guard lock(gone->to->mutex);
    gone->to->blocks.push_back(gone->block);
  };
  if (cudaUserObjectCreate(&object, kept.get(), give_up, 1, cudaUserObjectNoDestructorSync) != cudaSuccess ||
      cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) != cudaSuccess)
    static_cast<void>(cudaGetLastError());
  kept.release();  // the graph's now; after an error it leaks, as the copy may be in the graph already
  return true;
}

class PinnedMemory final : public MemoryResource {
 public:
  explicit PinnedMemory(std::shared_ptr<Gpus> gpus) : gpus_(std::move(gpus)), pages_(*gpus_), pool_(pages_) {}

  void* allocate(size_t bytes, StreamHandle) override {
    const size_t n = coarse_class(bytes);
    if (n < bytes) fail(ErrorKind::out_of_memory, "{} bytes of page-locked host memory cannot be allocated", bytes);
    take_given_up();
    {
      std::lock_guard lock(mutex_);
      auto& idle = n <= kSmall ? small_[n] : none_;
      if (idle.empty()) collect();
      if (!idle.empty()) {
        void* p = idle.back();
        idle.pop_back();
        return p;
      }
    }
    try {
      return pool_.allocate(n);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::out_of_memory) throw;
    }
    pool_.trim();
    return pool_.allocate(n);
  }

  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    const size_t n = coarse_class(bytes);
    if (!stream) return pool_.deallocate(p, n);
    try {
      const auto on = static_cast<cudaStream_t>(stream);
      {
        OnDevice scope(gpus_->of(on));
        if (keep_with_graph(on, p, n, given_up_)) return;
      }
      std::lock_guard lock(mutex_);
      if (n > kSmall || ++frees_ % kFreesBetween == 0) collect();
      Waiting& waiting = waiting_[stream];
      if (!waiting.gpu) waiting.gpu = &gpus_->of(on);
      cudaEvent_t passed = recorded(*waiting.gpu, on);
      // After its owner has destroyed a stream, the handle may refer to another stream, on another GPU.
      if (GpuContext* now = passed ? nullptr : &gpus_->of(on); now && now != waiting.gpu)
        waiting.gpu = now, passed = recorded(*now, on);
      if (!passed) return;  // the context is broken or gone: the block leaks
      waiting.blocks.push_back({p, n, passed, waiting.gpu});
    } catch (...) {
    }
  }

 private:
  struct Block {
    void* p;
    size_t bytes;
    cudaEvent_t passed;
    GpuContext* gpu;
  };
  struct Waiting {
    GpuContext* gpu = nullptr;
    std::deque<Block> blocks;  // in the order of the stream
  };
  static cudaEvent_t recorded(GpuContext& gpu, cudaStream_t on) {  // null: that failed
    OnDevice scope(gpu);
    const cudaEvent_t event = gpu.take_event();
    if (cudaEventRecord(event, on) == cudaSuccess) return event;
    static_cast<void>(cudaGetLastError());
    gpu.give_back(event);
    return nullptr;
  }
  void give_back(void* p, size_t bytes) {
    if (bytes <= kSmall) small_[bytes].push_back(p);
    else pool_.deallocate(p, bytes);
  }
  void take_given_up() {
    std::vector<std::pair<void*, size_t>> blocks;
    {
      std::lock_guard lock(given_up_->mutex);
      blocks.swap(given_up_->blocks);
    }
    std::lock_guard lock(mutex_);
    for (const auto& [p, bytes] : blocks) give_back(p, bytes);
  }
  // Returns to the pool the blocks that streams have passed. Each query to CUDA takes a microsecond, so for small
  // blocks it is made only when one is needed, and now and then.
  void collect() {
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      Waiting& waiting = it->second;
      while (!waiting.blocks.empty()) {
        const Block b = waiting.blocks.front();
        OnDevice scope(*b.gpu);
        if (cudaEventQuery(b.passed) != cudaSuccess) break;
        waiting.blocks.pop_front();
        b.gpu->give_back(b.passed);
        give_back(b.p, b.bytes);
      }
      it = waiting.blocks.empty() ? waiting_.erase(it) : std::next(it);
    }
  }

  std::shared_ptr<Gpus> gpus_;
  LockedPages pages_;
  HostPool pool_;
  static constexpr size_t kSmall = size_t{256} << 10;  // tables of stages
  static constexpr unsigned kFreesBetween = 64;
  std::mutex mutex_;
  unsigned frees_ = 0;
  std::map<size_t, std::vector<void*>> small_;  // idle; as many as were needed at once
  std::vector<void*> none_;
  std::map<StreamHandle, Waiting> waiting_;
  const std::shared_ptr<GivenUp> given_up_ = std::make_shared<GivenUp>();
};

}  // namespace

std::shared_ptr<MemoryResource> make_pinned_memory(std::shared_ptr<Gpus> gpus) {
  return std::make_shared<PinnedMemory>(std::move(gpus));
}

}  // namespace penstock
