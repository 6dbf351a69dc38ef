// SPDX-License-Identifier: Apache-2.0
// The driver, implemented with CUDA's runtime API.
#include "cuda/runtime/driver.h"

#include "base/error.h"
#include "cuda/cudart/device_memory.h"
#include "cuda/cudart/kernels.h"

namespace penstock {
namespace {

// CUDA would end the recording if it was asked.
[[noreturn]] void refuse_waiting() {
  bad_argument(
      "a step needs results of the GPU on the host, which there are none of while the stream records a CUDA graph");
}

class CudaEvent final : public DeviceEvent {
 public:
  CudaEvent(std::shared_ptr<Gpus> gpus, GpuContext& gpu)
      : gpus_(std::move(gpus)), gpu_(gpu), event_(gpu.take_event()) {}
  ~CudaEvent() override { gpu_.give_back(event_); }
  cudaEvent_t handle() const { return event_; }
  void is_of_graph(bool yes) { of_graph_ = yes; }
  bool done() const override {
    OnDevice scope(gpu_);
    if (of_graph_) refuse_waiting();
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) return false;
    check_cuda(code, "querying an event", gpu_.index());
    return true;
  }
  void synchronize() const override {
    if (of_graph_) refuse_waiting();
    gpu_.wait_on_host(event_);
  }

 private:
  std::shared_ptr<Gpus> gpus_;
  GpuContext& gpu_;
  cudaEvent_t event_;
  bool of_graph_ = false;
};

class CudaDriver final : public Driver {
 public:
  CudaDriver()
      : gpus_(std::make_shared<Gpus>()),
        kernels_(gpus_->count()),
        pinned_(make_pinned_memory(gpus_)),
        own_memory_(static_cast<size_t>(gpus_->count())),
        users_memory_(static_cast<size_t>(gpus_->count())) {}

  int device_count() const override { return gpus_->count(); }
  std::string device_name(int device) const override { return gpus_->at(device).name(); }

  StreamHandle take_stream(int device) override { return gpus_->at(device).take_stream(); }
  void give_back_stream(int device, StreamHandle stream) noexcept override {
    if (stream && device >= 0 && device < gpus_->count()) gpus_->at(device).give_back(on(stream));
  }

  std::shared_ptr<MemoryResource> memory(int device) override {
    gpus_->at(device);
    std::lock_guard lock(mutex_);
    if (const auto& users = users_memory_[static_cast<size_t>(device)]) return users;
    auto& own = own_memory_[static_cast<size_t>(device)];
    if (!own) own = make_device_memory(gpus_, device);
    return own;
  }
  void set_memory(int device, std::shared_ptr<MemoryResource> memory) override {
    gpus_->at(device);
    std::lock_guard lock(mutex_);
    users_memory_[static_cast<size_t>(device)].swap(memory);
  }
  std::shared_ptr<MemoryResource> pinned_memory() override { return pinned_; }

  int device_of(const void* p) const override {
    const cudaPointerAttributes a = attributes(p);
    return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged ? a.device : -1;
  }
  bool is_pinned(const void* p) const override { return attributes(p).type == cudaMemoryTypeHost; }

  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle stream) override {
    GpuContext& gpu = gpus_->at(device);
    if (bytes == 0) return;
    OnDevice scope(gpu);
    cudaError_t code = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on(stream));
    if (code == cudaErrorInvalidValue) {  // other GPUs cannot access a pool's memory: such a copy must name the GPUs
      static_cast<void>(cudaGetLastError());
      const cudaPointerAttributes a = attributes(to), b = attributes(from);
      if (a.type == cudaMemoryTypeDevice && b.type == cudaMemoryTypeDevice && a.device != b.device)
        code = cudaMemcpyPeerAsync(to, a.device, from, b.device, bytes, on(stream));
    }
    check_cuda(code, "copying", device);
  }
  void copy_rows(int device, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes, size_t rows,
                 StreamHandle stream) override {
    GpuContext& gpu = gpus_->at(device);
    if (bytes == 0 || rows == 0) return;
    OnDevice scope(gpu);
    check_cuda(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, cudaMemcpyDefault, on(stream)),
               "copying rows", device);
  }
  void set_zero(int device, void* to, size_t bytes, StreamHandle stream) override {
    GpuContext& gpu = gpus_->at(device);
    if (bytes == 0) return;
    OnDevice scope(gpu);
    check_cuda(cudaMemsetAsync(to, 0, bytes, on(stream)), "setting memory to zero", device);
  }

  std::shared_ptr<DeviceEvent> record(int device, StreamHandle stream) override {
    GpuContext& gpu = gpus_->at(device);
    OnDevice scope(gpu);
    auto event = std::make_shared<CudaEvent>(gpus_, gpu);
    event->is_of_graph(is_recording(device, stream));
    std::lock_guard ordering(gpu.ordering());
    check_cuda(cudaEventRecord(event->handle(), on(stream)), "recording an event", device);
    return event;
  }
  void wait(int device, StreamHandle stream, const DeviceEvent& event) override {
    GpuContext& gpu = gpus_->at(device);
    OnDevice scope(gpu);
    const cudaEvent_t handle = static_cast<const CudaEvent&>(event).handle();  // there is no other kind
    std::lock_guard ordering(gpu.ordering());
    check_cuda(cudaStreamWaitEvent(on(stream), handle, 0), "waiting for an event in a stream", device);
  }
  void notify(int device, StreamHandle stream, std::function<void()> f) override {
    OnDevice scope(gpus_->at(device));
    auto call = std::make_unique<std::function<void()>>(std::move(f));
    // cudaLaunchHostFunc does not call after the GPU has failed: waiting threads would wait forever.
    check_cuda(cudaStreamAddCallback(on(stream), &CudaDriver::call_back, call.get(), 0), "adding a callback", device);
    call.release();
  }
  void synchronize(int device, StreamHandle stream) override {
    OnDevice scope(gpus_->at(device));
    if (is_recording(device, stream)) refuse_waiting();
    check_cuda(cudaStreamSynchronize(on(stream)), "waiting for a stream", device);
  }

  bool is_recording(int device, StreamHandle stream) const override {
    OnDevice scope(gpus_->at(device));
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(on(stream), &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
    static_cast<void>(cudaGetLastError());
    return false;
  }

  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string& why) override {
    return kernels_.get(gpus_->at(device), text, entry, why);
  }
  std::function<void()> compilation(int device, const std::string& text, const std::string& entry) override {
    return kernels_.compilation(gpus_->at(device), text, entry);
  }
  std::shared_ptr<const DeviceKernel> prebuilt_kernel(int device, const std::string& text,
                                                      const std::string& entry) override {
    return kernels_.get_prebuilt(gpus_->at(device), text, entry);
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table,
              StreamHandle stream) override {
    static_cast<const CudaKernel&>(kernel).launch(gpus_->at(device), how, table, on(stream));
  }
  void on_device(int device, const std::function<void()>& f) override {
    OnDevice scope(gpus_->at(device));
    f();
  }
  std::string pci_bus_id(int device) const override {
    gpus_->at(device);
    char name[32] = {};
    return cudaDeviceGetPCIBusId(name, sizeof name, device) == cudaSuccess ? name : "";
  }
  size_t memory_bytes(int device) const override {
    OnDevice scope(gpus_->at(device));
    size_t idle = 0, total = 0;
    return cudaMemGetInfo(&idle, &total) == cudaSuccess ? total : 0;
  }
  int multiprocessors(int device) const override { return gpus_->at(device).multiprocessors(); }
  size_t most_shared_bytes(int device) const override {
    return static_cast<size_t>(gpus_->at(device).attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  }

 private:
  static cudaStream_t on(StreamHandle stream) { return static_cast<cudaStream_t>(stream); }
  cudaPointerAttributes attributes(const void* p) const {
    OnDevice scope(*gpus_);
    cudaPointerAttributes a{};
    if (cudaPointerGetAttributes(&a, p) != cudaSuccess) cudaGetLastError(), a = {};
    return a;
  }
  static void CUDART_CB call_back(cudaStream_t, cudaError_t, void* call) {
    const std::unique_ptr<std::function<void()>> f(static_cast<std::function<void()>*>(call));
    try {
      (*f)();
    } catch (...) {  // no exception may leave a callback; what f does must not fail
    }
  }

  std::shared_ptr<Gpus> gpus_;
  KernelStore kernels_;
  std::shared_ptr<MemoryResource> pinned_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<MemoryResource>> own_memory_, users_memory_;
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<CudaDriver>(); }

}  // namespace penstock
