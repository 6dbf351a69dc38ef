// SPDX-License-Identifier: Apache-2.0
#include "cuda/cudart/context.h"

#include <dlfcn.h>

#include <type_traits>

#include "base/error.h"
#include "base/settings.h"
#include "cuda/runtime/driver_version.h"

namespace penstock {
namespace {

// There is no code for older GPUs: the toolkit no longer supports them.
constexpr int kOldestArchitecture = 75;

// The few driver calls that the runtime API does not have. Looked up by name, so that the library also loads without a
// driver.
struct DriverCalls {
  decltype(&cuInit) init = nullptr;
  decltype(&cuDeviceGet) device_get = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuCtxGetCurrent) current = nullptr;
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuDeviceGetName) name = nullptr;
  decltype(&cuStreamGetCtx) stream_context = nullptr;
  decltype(&cuCtxGetDevice) current_device = nullptr;

  DriverCalls() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) bad_argument("no NVIDIA driver is installed here (libcuda.so.1 cannot be loaded)");
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
      if (!call) bad_argument("the NVIDIA driver is too old: it lacks {}", name);
    };
    find(init, "cuInit");
    find(device_get, "cuDeviceGet");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(current, "cuCtxGetCurrent");
    find(push, "cuCtxPushCurrent_v2");
    find(pop, "cuCtxPopCurrent_v2");
    find(error_string, "cuGetErrorString");
    find(name, "cuDeviceGetName");
    find(current_device, "cuCtxGetDevice");
    find(stream_context, "cuStreamGetCtx");
  }
};
const DriverCalls& driver_calls() {
  static const DriverCalls calls;
  return calls;
}

[[noreturn]] void fail_driver(CUresult code, const char* what, int device) {
  const char* text = nullptr;
  if (driver_calls().error_string(code, &text) != CUDA_SUCCESS || !text) text = "an unknown error";
  const ErrorKind kind = code == CUDA_ERROR_OUT_OF_MEMORY ? ErrorKind::out_of_memory : ErrorKind::internal;
  fail(kind, "GPU {}: {} failed: {} (CUDA error {})", device, what, text, static_cast<int>(code));
}

// After one of these, every call in the context fails.
bool is_final(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

}  // namespace

void fail_cuda(cudaError_t code, const char* what, int device) {
  static_cast<void>(cudaGetLastError());  // reported here, so that a later call does not report it again
  const ErrorKind kind = code == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory : ErrorKind::internal;
  const char* hint = "";
  if (is_final(code)) hint = "; work that was enqueued earlier failed, and this process can no longer use the GPU";
  else if (code == cudaErrorInitializationError)
    hint = "; CUDA cannot be used after a fork: start processes with the spawn method";
  fail(kind, "GPU {}: {} failed: {} ({}){}", device, what, cudaGetErrorString(code), cudaGetErrorName(code), hint);
}

int GpuContext::attribute(cudaDeviceAttr which) const {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, index_), "reading an attribute", index_);
  return value;
}

int GpuContext::architecture() const {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
}

CUcontext GpuContext::handle() {
  if (const CUcontext made = handle_.load(std::memory_order_acquire)) return made;
  std::lock_guard lock(making_);
  if (const CUcontext made = handle_.load(std::memory_order_acquire)) return made;
  if (const int found = architecture(); found < kOldestArchitecture)
    bad_argument("GPU {} has compute capability {}.{}; the oldest supported one is {}.{}", index_, found / 10,
                 found % 10, kOldestArchitecture / 10, kOldestArchitecture % 10);
  const auto& calls = driver_calls();
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult code = calls.init(0);
  if (code == CUDA_SUCCESS) code = calls.device_get(&device, index_);
  if (code == CUDA_SUCCESS) code = calls.retain(&context, device);
  if (code != CUDA_SUCCESS) fail_driver(code, "creating its context", index_);
  handle_.store(context, std::memory_order_release);
  return context;
}

std::string GpuContext::name() {
  CUdevice device = 0;
  char text[256] = {};
  CUresult code = driver_calls().init(0);  // no context: that would take memory
  if (code == CUDA_SUCCESS) code = driver_calls().device_get(&device, index_);
  if (code == CUDA_SUCCESS) code = driver_calls().name(text, sizeof text, device);
  if (code != CUDA_SUCCESS) fail_driver(code, "getting its name", index_);
  return text;
}

cudaStream_t GpuContext::take_stream() {
  {
    std::lock_guard lock(mutex_);
    if (!streams_.empty()) {
      const cudaStream_t idle = streams_.back();
      streams_.pop_back();
      return idle;
    }
  }
  OnDevice scope(*this);
  cudaStream_t made = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "creating a stream", index_);
  return made;
}

void GpuContext::give_back(cudaStream_t stream) noexcept {
  try {
    std::lock_guard lock(mutex_);
    streams_.push_back(stream);
  } catch (...) {  // no memory: the stream leaks and is not destroyed, because memory may still be freed on it
  }
}

cudaEvent_t GpuContext::take_event() {
  {
    std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      const cudaEvent_t idle = events_.back();
      events_.pop_back();
      return idle;
    }
  }
  OnDevice scope(*this);
  cudaEvent_t made = nullptr;
  check_cuda(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "creating an event", index_);
  return made;
}

// An event whose waiting threads sleep costs an interrupt and the wake-up of a driver thread each time it is passed. So
// it is created only when somebody waits.
void GpuContext::wait_on_host(cudaEvent_t event) {
  OnDevice scope(*this);
  cudaError_t code = cudaEventQuery(event);
  if (code != cudaErrorNotReady) return check_cuda(code, "waiting for an event", index_);
  cudaEvent_t passed = nullptr;
  check_cuda(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming | cudaEventBlockingSync), "creating an event",
             index_);
  const cudaStream_t behind = take_stream();
  code = cudaStreamWaitEvent(behind, event, 0);
  if (code == cudaSuccess) code = cudaEventRecord(passed, behind);
  if (code == cudaSuccess) code = cudaEventSynchronize(passed);
  give_back(behind);
  static_cast<void>(cudaEventDestroy(passed));
  check_cuda(code, "waiting for an event", index_);
}

void GpuContext::give_back(cudaEvent_t event) noexcept {
  try {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
  } catch (...) {
    static_cast<void>(cudaEventDestroy(event));
  }
}

static CUcontext current_context(const GpuContext& gpu) {
  CUcontext now = nullptr;
  if (const CUresult code = driver_calls().current(&now); code != CUDA_SUCCESS)
    fail_driver(code, "getting the current context", gpu.index());
  return now;
}

// The mode is the thread's, not the device's: the outermost scope changes it. A call of the driver takes its time, and
// a call of the library has some ten scopes within each other.
static thread_local int scopes = 0;

OnDevice::OnDevice(GpuContext& gpu) {
  gpu.handle();
  if (current_context(gpu) != gpu.handle()) push(gpu);
  relax();
}
OnDevice::OnDevice(const Gpus& gpus) {
  GpuContext& some = gpus.any();
  if (!current_context(some)) push(some);
  relax();
}
void OnDevice::relax() {
  if (scopes++ == 0) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
}
void OnDevice::push(GpuContext& gpu) {
  if (const CUresult code = driver_calls().push(gpu.handle()); code != CUDA_SUCCESS)
    fail_driver(code, "switching to its context", gpu.index());
  pushed_ = true;
}

OnDevice::~OnDevice() {
  CUcontext left = nullptr;
  if (--scopes == 0) static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
  if (pushed_) static_cast<void>(driver_calls().pop(&left));
}

Gpus::Gpus() {
  driver_calls();
  int version = 0, count = 0;
  static_cast<void>(cudaDriverGetVersion(&version));
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (code == cudaErrorInsufficientDriver || code == cudaErrorStubLibrary) {
    if (version == 0) bad_argument("the NVIDIA driver does not work: {}", cudaGetErrorString(code));
    constexpr int kNeeded = CUDART_VERSION / 1000;
    bad_argument("the NVIDIA driver supports CUDA {}, but CUDA {}.0 or newer is needed: driver {} or newer",
                 version_text(version), kNeeded, driver_release(kNeeded));
  }
  if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0)) {
    const char* visible = Setting("CUDA_VISIBLE_DEVICES").as_given();  // empty: none is
    if (visible) bad_argument("no GPU is visible (CUDA_VISIBLE_DEVICES is \"{}\")", visible);
    bad_argument("no GPU is visible");
  }
  if (code != cudaSuccess)
    bad_argument("the GPUs cannot be used: {} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
  for (int i = 0; i < count; ++i) gpus_.push_back(std::make_unique<GpuContext>(i));
}

GpuContext& Gpus::at(int device) const {
  if (device < 0 || device >= count()) bad_argument("there is no GPU {}: the machine has {}", device, count());
  return *gpus_[static_cast<size_t>(device)];
}

GpuContext& Gpus::any() const {
  for (const auto& gpu : gpus_)
    if (gpu->is_made()) return *gpu;
  return *gpus_.front();
}

GpuContext& Gpus::of(cudaStream_t stream) const {
  OnDevice scope(*this);
  // cudaStreamGetDevice() needs a driver of CUDA 12.8.
  const auto& calls = driver_calls();
  CUcontext context = nullptr, left = nullptr;
  CUdevice device = 0;
  CUresult code = calls.stream_context(stream, &context);
  if (code == CUDA_SUCCESS) code = calls.push(context);
  if (code == CUDA_SUCCESS) {
    code = calls.current_device(&device);
    static_cast<void>(calls.pop(&left));
  }
  if (code != CUDA_SUCCESS) fail_driver(code, "getting the GPU of a stream", any().index());
  return at(device);
}

}  // namespace penstock
