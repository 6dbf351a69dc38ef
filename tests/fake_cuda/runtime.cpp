// SPDX-License-Identifier: Apache-2.0
// Stands in for CUDA's runtime, so that src/cuda/cudart/driver_check.cpp tries the driver's bookkeeping where there is
// no GPU: two devices, streams that are threads, memory that is freed late shows, and the check's kernels as host code.
// Calls with no context of the right device fail, as work that goes to the wrong GPU would.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

extern "C" int fake_current_device();
extern "C" void fake_set_device(int device);
extern "C" CUcontext fake_context(int device);

namespace {

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t{5} << 29;  // of a device

// Guards all state below. Not destroyed: the streams' threads wait until the process ends.
std::mutex& mutex = *new std::mutex;
std::condition_variable& changed = *new std::condition_variable;
cudaError_t broken[kDevices] = {};

struct Point {
  bool passed = false;
};
struct Stream {
  int device;
  std::deque<std::function<void()>> work;
  bool busy = false;
  explicit Stream(int d) : device(d) {
    std::thread([this] {
      std::unique_lock lock(mutex);
      for (;;) {
        changed.wait(lock, [&] { return !work.empty(); });
        auto next = std::move(work.front());
        work.pop_front();
        busy = true;
        lock.unlock();
        next();
        lock.lock();
        busy = false;
        changed.notify_all();
      }
    }).detach();
  }
  void enqueue(std::function<void()> f) {
    work.push_back(std::move(f));
    changed.notify_all();
  }
  std::shared_ptr<Point> point() {
    auto p = std::make_shared<Point>();
    enqueue([p] {
      std::lock_guard lock(mutex);
      p->passed = true;
      changed.notify_all();
    });
    return p;
  }
  void wait_for(const std::shared_ptr<Point>& p) {
    enqueue([p] {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return p->passed; });
    });
  }
  void finish(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock, [&] { return work.empty() && !busy; });
  }
};
struct Event {
  int device;
  std::shared_ptr<Point> point;
};
struct Pool {
  struct Idle {
    void* p;
    size_t bytes;
    Stream* stream;
    std::shared_ptr<Point> freed;
  };
  int device = 0, internal_dependencies = 1;
  std::list<Idle> idle;
};
struct Block {
  size_t bytes;
  int device;  // -1: host
  Pool* pool;
};
std::map<char*, Block> blocks;
std::list<Stream*> streams;
size_t held[kDevices] = {};
struct Kernel {
  std::string entry;
};

Stream* stream_of(cudaStream_t s) { return reinterpret_cast<Stream*>(s); }
const Block* block_of(const void* p) {
  auto it = blocks.upper_bound(static_cast<char*>(const_cast<void*>(p)));
  if (it == blocks.begin()) return nullptr;
  --it;
  return static_cast<const char*>(p) < it->first + it->second.bytes ? &it->second : nullptr;
}
void* map_pages(size_t bytes) {
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}
void* take(int device, size_t bytes, Pool* pool) {
  if (bytes > kMemory || held[device] + bytes > kMemory) return nullptr;
  void* p = map_pages(bytes);
  if (p) held[device] += bytes, blocks[static_cast<char*>(p)] = {bytes, device, pool};
  return p;
}
void give_back(void* p) {
  const auto it = blocks.find(static_cast<char*>(p));
  if (it->second.device >= 0) held[it->second.device] -= it->second.bytes;
  ::munmap(p, it->second.bytes);
  blocks.erase(it);
}
cudaError_t current(int& device) {
  device = fake_current_device();
  if (device < 0) return cudaErrorInvalidResourceHandle;
  return broken[device];
}
cudaError_t current_of(cudaStream_t s) {
  int device = 0;
  if (!s) return cudaErrorInvalidResourceHandle;
  const cudaError_t code = current(device);
  return code != cudaSuccess ? code : device == stream_of(s)->device ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

struct Fill {  // as in driver_check.cpp
  float* to;
  int64_t n, cycles;
  float value;
};
// Time of the processor, as the host's thread shares it: a host that gets no core for long finds the kernel at work.
void compute(std::chrono::nanoseconds time) {
  const auto computed = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  for (const auto end = computed() + time; computed() < end;) {
  }
}
void run_kernel(const std::string& entry, const void* table, int device) {
  if (entry == "fill") {
    const Fill f = *static_cast<const Fill*>(table);
    compute(std::chrono::nanoseconds(f.cycles / 2));
    if (reinterpret_cast<uintptr_t>(f.to) < 4096 && f.n > 0) {
      std::lock_guard lock(mutex);
      broken[device] = cudaErrorIllegalAddress;
      return;
    }
    for (int64_t i = 0; i < f.n; ++i) f.to[i] = f.value;
  } else if (entry == "shared") {
    const auto* t = static_cast<const char*>(table);
    int* to = *reinterpret_cast<int* const*>(t);
    const int n = *reinterpret_cast<const int*>(t + 8);
    for (int i = 0; i < n; ++i) to[i] = n - 1 - i;
  }
}

}  // namespace

extern "C" {
const char* cudaGetErrorString(cudaError_t) { return "an error of the runtime that is not there"; }
const char* cudaGetErrorName(cudaError_t code) { return code == cudaErrorMemoryAllocation ? "memory" : "another"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = kDevices, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return fake_set_device(device), cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  *value = which == cudaDevAttrComputeCapabilityMajor         ? 9
           : which == cudaDevAttrComputeCapabilityMinor       ? 0
           : which == cudaDevAttrMultiProcessorCount          ? 4
           : which == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 << 10
           : which == cudaDevAttrMemoryPoolsSupported         ? 1
                                                              : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* name, int room, int device) {
  std::snprintf(name, static_cast<size_t>(room), "0000:%02x:00.0", 16 + device);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* idle, size_t* total) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  *idle = kMemory - held[device], *total = kMemory;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  std::unique_lock lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  for (Stream* s : streams)
    if (s->device == device) s->finish(lock);
  return broken[device];
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  auto* made = new Stream(device);
  streams.push_back(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  const int device = stream ? stream_of(stream)->device : fake_current_device();
  if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
  return *context = fake_context(device), CUDA_SUCCESS;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::unique_lock lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  stream_of(stream)->finish(lock);
  return broken[stream_of(stream)->device];
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t f, void* data, unsigned) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  const int device = stream_of(stream)->device;
  stream_of(stream)->enqueue([=] { f(stream, broken[device], data); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  *event = reinterpret_cast<cudaEvent_t>(new Event{device, {}});
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete reinterpret_cast<Event*>(event), cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::lock_guard lock(mutex);
  auto* e = reinterpret_cast<Event*>(event);
  if (const cudaError_t code = current_of(stream)) return code;
  if (e->device != stream_of(stream)->device) return cudaErrorInvalidResourceHandle;
  e->point = stream_of(stream)->point();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  std::lock_guard lock(mutex);
  auto* e = reinterpret_cast<Event*>(event);
  if (broken[e->device]) return broken[e->device];
  return !e->point || e->point->passed ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  std::unique_lock lock(mutex);
  const auto point = reinterpret_cast<Event*>(event)->point;
  changed.wait(lock, [&] { return !point || point->passed; });
  return broken[reinterpret_cast<Event*>(event)->device];
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  if (const auto point = reinterpret_cast<Event*>(event)->point) stream_of(stream)->wait_for(point);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  std::lock_guard lock(mutex);
  *status = cudaStreamCaptureStatusNone;
  return current_of(stream);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long*,
                                     cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  return cudaStreamIsCapturing(stream, status);
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t*, void*, cudaHostFn_t, unsigned, unsigned) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned) {
  return cudaErrorNotSupported;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
  std::swap(own, *mode);
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  auto* made = new Pool;
  made->device = properties->location.id;
  *pool = reinterpret_cast<cudaMemPool_t>(made);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  std::lock_guard lock(mutex);
  if (which == cudaMemPoolReuseAllowInternalDependencies)
    reinterpret_cast<Pool*>(pool)->internal_dependencies = *static_cast<int*>(value);
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  std::lock_guard lock(mutex);
  auto& idle = reinterpret_cast<Pool*>(pool)->idle;
  for (auto i = idle.begin(); i != idle.end();)
    if (i->freed->passed) give_back(i->p), i = idle.erase(i);
    else ++i;
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  auto* from = reinterpret_cast<Pool*>(pool);
  for (auto i = from->idle.begin(); i != from->idle.end(); ++i) {
    if (i->bytes != bytes) continue;
    const bool free_here = i->stream == stream_of(stream) || i->freed->passed;
    if (!free_here && !from->internal_dependencies) continue;
    if (!free_here) stream_of(stream)->wait_for(i->freed);
    *p = i->p;
    from->idle.erase(i);
    return cudaSuccess;
  }
  *p = take(from->device, bytes, from);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  const Block& b = blocks.at(static_cast<char*>(p));
  b.pool->idle.push_back({p, b.bytes, stream_of(stream), stream_of(stream)->point()});
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** p, size_t bytes) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  *p = take(device, bytes, nullptr);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* p) {
  std::lock_guard lock(mutex);
  return give_back(p), cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  *p = map_pages(bytes);
  blocks[static_cast<char*>(*p)] = {bytes, -1, nullptr};
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  std::lock_guard lock(mutex);
  return give_back(p), cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* p) {
  std::lock_guard lock(mutex);
  int device = 0;
  if (const cudaError_t code = current(device)) return code;
  const Block* b = block_of(p);
  *found = {};
  found->device = b && b->device >= 0 ? b->device : device;
  found->type = !b ? cudaMemoryTypeUnregistered : b->device < 0 ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  std::unique_lock lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  const bool pageable = !block_of(to) || !block_of(from);
  stream_of(stream)->enqueue([=] { std::memcpy(to, from, bytes); });
  if (pageable) stream_of(stream)->finish(lock);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes, size_t rows,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  for (size_t i = 0; i < rows; ++i)
    if (const cudaError_t code = cudaMemcpyAsync(static_cast<char*>(to) + i * to_pitch,
                                                 static_cast<const char*>(from) + i * from_pitch, bytes, kind, stream))
      return code;
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  stream_of(stream)->enqueue([=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  *library = static_cast<cudaLibrary_t>(const_cast<void*>(code));
  return std::memcmp(code, "\177ELF", 4) == 0 ? cudaSuccess : cudaErrorInvalidKernelImage;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
  if (std::strcmp(name, "nothing") == 0) return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(new Kernel{name});
  return cudaSuccess;
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t, cudaFuncAttribute, int, int) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* found, const void*) { return *found = {}, cudaSuccess; }
cudaError_t cudaLaunchKernel(const void* kernel, dim3, dim3, void** parameters, size_t, cudaStream_t stream) {
  std::lock_guard lock(mutex);
  if (const cudaError_t code = current_of(stream)) return code;
  const std::string entry = static_cast<const Kernel*>(kernel)->entry;
  const void* table = *static_cast<void**>(parameters[0]);
  const int device = stream_of(stream)->device;
  stream_of(stream)->enqueue([=] { run_kernel(entry, table, device); });
  return cudaSuccess;
}
}
