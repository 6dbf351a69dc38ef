// SPDX-License-Identifier: Apache-2.0
// Stands in for the CUDA 12 runtime of a Triton server on a machine without a GPU, loaded before it (LD_PRELOAD). There
// is one GPU, and its memory is the host's, as in tests/emulated_gpu. The handle of another process's memory holds the
// name of an object of POSIX shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kMapFailed = 205;

struct Opened {
  std::mutex mutex;
  std::map<void*, size_t> bytes;
};
Opened& opened() {
  static auto* all = new Opened;
  return *all;
}

// What the server takes from the driver.
int range_of(size_t* base, size_t* bytes, size_t p) {
  const std::lock_guard lock(opened().mutex);
  for (const auto& [at, size] : opened().bytes) {
    const auto begin = reinterpret_cast<size_t>(at);
    if (p < begin || p >= begin + size) continue;
    if (base) *base = begin;
    if (bytes) *bytes = size;
    return kSuccess;
  }
  return kInvalidValue;
}
int text_of(int, const char** text) { return *text = "an error of the stand-in", kSuccess; }

}  // namespace

extern "C" {

struct cudaIpcMemHandle_t {
  char name[64];
};

int cudaGetDeviceCount(int* count) { return *count = 1, kSuccess; }
int cudaGetDevice(int* device) { return *device = 0, kSuccess; }
int cudaSetDevice(int device) { return device == 0 ? kSuccess : 101; }
const char* cudaGetErrorString(int error) { return error == kSuccess ? "no error" : "an error of the stand-in"; }
int cudaGetDeviceProperties_v2(void* properties, int) {
  constexpr size_t kMajor = 360, kBytes = 1024;  // of CUDA 12: the server asks for the compute capability
  const int capability[] = {9, 0};
  std::memset(properties, 0, kBytes);
  std::memcpy(static_cast<char*>(properties) + kMajor, capability, sizeof capability);
  return kSuccess;
}
int cudaDeviceGetPCIBusId(char* text, int length, int) {
  return std::snprintf(text, static_cast<size_t>(length), "0000:00:00.0"), kSuccess;
}
int cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, kSuccess; }
int cudaDeviceEnablePeerAccess(int, unsigned) { return kSuccess; }
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = *greatest = 0, kSuccess; }
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long, int* status) {
  const bool is_range = std::strcmp(name, "cuMemGetAddressRange") == 0;
  const bool is_text = std::strcmp(name, "cuGetErrorString") == 0;
  *function = is_range ? reinterpret_cast<void*>(range_of) : is_text ? reinterpret_cast<void*>(text_of) : nullptr;
  if (status) *status = *function ? 0 : 1;
  return kSuccess;
}

int cudaMalloc(void** p, size_t bytes) { return (*p = std::aligned_alloc(256, (bytes + 255) / 256 * 256)) ? 0 : 2; }
int cudaMallocManaged(void** p, size_t bytes, unsigned) { return cudaMalloc(p, bytes); }
int cudaHostAlloc(void** p, size_t bytes, unsigned) { return cudaMalloc(p, bytes); }
int cudaFree(void* p) { return std::free(p), kSuccess; }
int cudaFreeHost(void* p) { return std::free(p), kSuccess; }
int cudaMemGetInfo(size_t* free, size_t* total) { return *free = *total = size_t{1} << 30, kSuccess; }
int cudaMemcpy(void* to, const void* from, size_t bytes, int) { return std::memcpy(to, from, bytes), kSuccess; }
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void*) {
  return cudaMemcpy(to, from, bytes, kind);
}
int cudaMemset(void* to, int value, size_t bytes) { return std::memset(to, value, bytes), kSuccess; }
int cudaStreamCreate(void** stream) { return *stream = nullptr, kSuccess; }
int cudaStreamDestroy(void*) { return kSuccess; }
int cudaStreamSynchronize(void*) { return kSuccess; }

int cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned) {
  handle.name[sizeof handle.name - 1] = 0;
  const int file = ::shm_open(handle.name, O_RDWR, 0);
  if (file < 0) return kInvalidValue;
  struct stat found{};
  const bool known = ::fstat(file, &found) == 0;
  const auto bytes = static_cast<size_t>(found.st_size);
  *p = known ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  ::close(file);
  if (*p == MAP_FAILED) return kMapFailed;
  const std::lock_guard lock(opened().mutex);
  opened().bytes[*p] = bytes;
  return kSuccess;
}
int cudaIpcCloseMemHandle(void* p) {
  const std::lock_guard lock(opened().mutex);
  const auto at = opened().bytes.find(p);
  if (at == opened().bytes.end()) return kInvalidValue;
  ::munmap(p, at->second);
  opened().bytes.erase(at);
  return kSuccess;
}
}
