// SPDX-License-Identifier: Apache-2.0
// One GPU of the process: its context, and its idle streams and events; errors of CUDA's calls.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/memory.h"

namespace penstock {

// "GPU 0: `what` failed: …"; running out of memory keeps its kind, all other errors are ErrorKind::internal.
[[noreturn]] void fail_cuda(cudaError_t code, const char* what, int device);
inline void check_cuda(cudaError_t code, const char* what, int device) {
  if (code != cudaSuccess) [[unlikely]]
    fail_cuda(code, what, device);
}

class GpuContext {
 public:
  explicit GpuContext(int index) : index_(index) {}
  int index() const { return index_; }
  int attribute(cudaDeviceAttr which) const;
  int architecture() const;  // 90 for compute capability 9.0
  int multiprocessors() {    // asked for at each launch
    int known = multiprocessors_.load(std::memory_order_relaxed);
    if (!known) multiprocessors_ = known = attribute(cudaDevAttrMultiProcessorCount);
    return known;
  }
  std::string name();
  // The primary context, which frameworks use too. Created at the first call, so that a process that uses one GPU of
  // many takes no memory on the others.
  CUcontext handle();
  bool is_made() const { return handle_.load(std::memory_order_acquire) != nullptr; }

  cudaStream_t take_stream();
  void give_back(cudaStream_t stream) noexcept;
  cudaEvent_t take_event();
  void give_back(cudaEvent_t event) noexcept;
  void wait_on_host(cudaEvent_t event);  // the thread sleeps
  // One thread at a time records events that a stream waits for, and makes a stream wait. When two threads do so on one
  // stream at once, the driver (580) can count an event as later than another stream's work although its place in the
  // stream is before it, and its memory pools then give away memory that is in use.
  std::mutex& ordering() { return ordering_; }

 private:
  const int index_;
  std::atomic<CUcontext> handle_{nullptr};
  std::atomic<int> multiprocessors_{0};
  std::mutex making_, mutex_, ordering_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
};

class Gpus;

// Directs the calling thread's calls to this GPU until the end of the scope; then to the previous one, or to none.
// Unlike cudaSetDevice it creates no context on the GPU that it returns to. While some thread records a graph (stream
// capture), calls that could disturb it would fail on all threads and end the recording; those in the scope do neither.
class OnDevice {
 public:
  explicit OnDevice(GpuContext& gpu);
  // For calls that any GPU can serve: uses the thread's current one if it has one, else Gpus::any().
  explicit OnDevice(const Gpus& gpus);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  void push(GpuContext& gpu);
  void relax();
  bool pushed_ = false;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class Gpus {
 public:
  Gpus();  // throws ErrorKind::argument with the reason if there is none
  int count() const { return static_cast<int>(gpus_.size()); }
  GpuContext& at(int device) const;  // throws ErrorKind::argument if it does not exist
  // A GPU that is already in use, for calls that any GPU's context can serve.
  GpuContext& any() const;
  // The GPU of a stream; `any()` for a default stream without a specific GPU.
  GpuContext& of(cudaStream_t stream) const;

 private:
  std::vector<std::unique_ptr<GpuContext>> gpus_;
};

}  // namespace penstock
