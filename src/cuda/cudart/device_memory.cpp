// SPDX-License-Identifier: Apache-2.0
#include "cuda/cudart/device_memory.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

constexpr size_t kWord = 16;  // kernels read bytes in words, also the word that contains the end of a block

[[noreturn]] void no_room(int device, size_t bytes) {
  size_t idle = 0, total = 0;
  if (cudaMemGetInfo(&idle, &total) != cudaSuccess)
    fail(ErrorKind::out_of_memory, "GPU {}: no room for {} bytes", device, bytes);
  fail(ErrorKind::out_of_memory, "GPU {}: no room for {} bytes; {} of its {} bytes are free", device, bytes, idle,
       total);
}

// Freed small blocks, kept for the stream that they were freed on: earlier work on that stream is done before later
// work. To allocate and free one with CUDA takes as long as a third of a launch.
class SmallBlocks {
 public:
  static constexpr size_t kLargest = size_t{64} << 10;
  static size_t room_of(size_t bytes) { return std::bit_ceil(std::max(bytes, kSmallest)); }

  // Null if there is none. `room` is a result of room_of.
  void* take(size_t room, StreamHandle stream) {
    std::lock_guard lock(mutex_);
    const auto kept = of_stream_.find(stream);
    if (kept == of_stream_.end()) return nullptr;
    auto& blocks = kept->second.blocks[which(room)];
    if (blocks.empty()) return nullptr;
    void* p = blocks.back();
    blocks.pop_back();
    kept->second.bytes -= room;
    return p;
  }
  bool keep(void* p, size_t room, StreamHandle stream) {
    std::lock_guard lock(mutex_);
    OfStream& kept = of_stream_[stream];
    if (kept.bytes + room > kMostBytes) return false;
    kept.blocks[which(room)].push_back(p);
    kept.bytes += room;
    return true;
  }
  template <class Free> void give_up(Free&& free) {
    std::lock_guard lock(mutex_);
    for (auto& [stream, kept] : of_stream_)
      for (auto& blocks : kept.blocks)
        for (void* p : blocks) free(p, stream);
    of_stream_.clear();
  }
  // Whether work on the stream runs in one order that is known here. Not so for each thread's own default stream, nor
  // for a stream that records a graph, which runs again later.
  static bool suits(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (stream == cudaStreamPerThread) return false;
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status == cudaStreamCaptureStatusNone;
    static_cast<void>(cudaGetLastError());
    return false;
  }

 private:
  static constexpr size_t kSmallest = 512, kMostBytes = size_t{1} << 20;
  static int which(size_t room) { return std::countr_zero(room) - std::countr_zero(kSmallest); }
  struct OfStream {
    std::vector<void*> blocks[8];  // 512 bytes to 64 KB
    size_t bytes = 0;
  };
  std::mutex mutex_;
  std::unordered_map<StreamHandle, OfStream> of_stream_;
};

class StreamOrderedMemory final : public MemoryResource {
 public:
  StreamOrderedMemory(std::shared_ptr<Gpus> gpus, int device) : gpus_(std::move(gpus)), gpu_(gpus_->at(device)) {
    OnDevice scope(gpu_);
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.handleTypes = cudaMemHandleTypeNone;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    check_cuda(cudaMemPoolCreate(&pool_, &properties), "creating a memory pool", device);
    uint64_t everything = UINT64_MAX;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &everything), "setting up a memory pool",
               device);
    // Else a stream might wait for another one whose memory it gets, and iterations would no longer overlap.
    wait_for_other_streams(false);
  }
  // The pool is not destroyed: its memory may be in use until the end of the process.

  void* allocate(size_t bytes, StreamHandle stream) override {
    OnDevice scope(gpu_);
    const auto on = static_cast<cudaStream_t>(stream);
    void* p = nullptr;
    if (bytes > std::numeric_limits<size_t>::max() - kWord) no_room(gpu_.index(), bytes);
    const bool small = bytes <= SmallBlocks::kLargest;
    const size_t room = small ? SmallBlocks::room_of(bytes) : (bytes + kWord - 1) / kWord * kWord;
    if (small && SmallBlocks::suits(on))
      if (void* kept = small_.take(room, stream)) return kept;
    cudaError_t code = cudaMallocFromPoolAsync(&p, room, pool_, on);
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      wait_for_other_streams(true);  // from now on: reusing their memory is worth more than overlap
      code = cudaMallocFromPoolAsync(&p, room, pool_, on);
    }
    if (code == cudaErrorMemoryAllocation) {  // free memory in pieces that are too small goes back to the system
      static_cast<void>(cudaGetLastError());
      small_.give_up(
          [](void* kept, StreamHandle of) { static_cast<void>(cudaFreeAsync(kept, static_cast<cudaStream_t>(of))); });
      check_cuda(cudaDeviceSynchronize(), "waiting for memory", gpu_.index());
      check_cuda(cudaMemPoolTrimTo(pool_, 0), "trimming a memory pool", gpu_.index());
      code = cudaMallocFromPoolAsync(&p, room, pool_, on);
    }
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      no_room(gpu_.index(), bytes);
    }
    check_cuda(code, "allocating memory", gpu_.index());
    return p;
  }

  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    try {
      OnDevice scope(gpu_);
      if (bytes <= SmallBlocks::kLargest && SmallBlocks::suits(static_cast<cudaStream_t>(stream)) &&
          small_.keep(p, SmallBlocks::room_of(bytes), stream))
        return;
      static_cast<void>(cudaFreeAsync(p, static_cast<cudaStream_t>(stream)));
    } catch (...) {  // the process ends, and the driver with it
    }
  }
  Device device() const override { return {DeviceKind::gpu, static_cast<int16_t>(gpu_.index())}; }

 private:
  void wait_for_other_streams(bool allowed) {
    int value = allowed;
    check_cuda(cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &value),
               "setting up a memory pool", gpu_.index());
  }
  std::shared_ptr<Gpus> gpus_;
  GpuContext& gpu_;
  cudaMemPool_t pool_ = nullptr;
  SmallBlocks small_;
};

// For GPUs without memory pools (some virtual ones). A freed block is available at once on the same stream, and on
// another one when the stream that freed it has passed.
class CachedMemory final : public MemoryResource {
 public:
  CachedMemory(std::shared_ptr<Gpus> gpus, int device) : gpus_(std::move(gpus)), gpu_(gpus_->at(device)) {}

  void* allocate(size_t bytes, StreamHandle stream) override {
    const size_t n = coarse_class(bytes);
    if (n < bytes) fail(ErrorKind::out_of_memory, "GPU {}: no room for {} bytes", gpu_.index(), bytes);
    OnDevice scope(gpu_);
    if (void* kept = take(n, stream)) return kept;
    void* p = nullptr;
    cudaError_t code = cudaMalloc(&p, n);
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      check_cuda(cudaDeviceSynchronize(), "waiting for memory", gpu_.index());
      free_idle();
      code = cudaMalloc(&p, n);
    }
    if (code == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      no_room(gpu_.index(), bytes);
    }
    check_cuda(code, "allocating memory", gpu_.index());
    return p;
  }

  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    try {
      OnDevice scope(gpu_);
      const cudaEvent_t passed = gpu_.take_event();
      if (cudaEventRecord(passed, static_cast<cudaStream_t>(stream)) != cudaSuccess) {
        gpu_.give_back(passed);
        return;
      }
      std::lock_guard lock(mutex_);
      idle_[coarse_class(bytes)].push_back({p, stream, passed});
    } catch (...) {  // no memory, or the process ends: the block leaks
    }
  }
  Device device() const override { return {DeviceKind::gpu, static_cast<int16_t>(gpu_.index())}; }

 private:
  struct Block {
    void* p;
    StreamHandle stream;
    cudaEvent_t passed;
  };
  void* take(size_t bytes, StreamHandle stream) {
    std::lock_guard lock(mutex_);
    const auto blocks = idle_.find(bytes);
    if (blocks == idle_.end()) return nullptr;
    for (auto b = blocks->second.begin(); b != blocks->second.end(); ++b) {
      if (b->stream != stream && cudaEventQuery(b->passed) != cudaSuccess) continue;
      void* p = b->p;
      gpu_.give_back(b->passed);
      blocks->second.erase(b);
      return p;
    }
    return nullptr;
  }
  void free_idle() {
    std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : idle_)
      for (const Block& b : blocks) {
        static_cast<void>(cudaFree(b.p));
        gpu_.give_back(b.passed);
      }
    idle_.clear();
  }
  std::shared_ptr<Gpus> gpus_;
  GpuContext& gpu_;
  std::mutex mutex_;
  std::map<size_t, std::list<Block>> idle_;
};

}  // namespace

std::shared_ptr<MemoryResource> make_device_memory(std::shared_ptr<Gpus> gpus, int device) {
  if (gpus->at(device).attribute(cudaDevAttrMemoryPoolsSupported))
    return std::make_shared<StreamOrderedMemory>(std::move(gpus), device);
  return make_cached_memory(std::move(gpus), device);
}
std::shared_ptr<MemoryResource> make_cached_memory(std::shared_ptr<Gpus> gpus, int device) {
  return std::make_shared<CachedMemory>(std::move(gpus), device);
}

}  // namespace penstock
