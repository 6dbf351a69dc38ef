// SPDX-License-Identifier: Apache-2.0
// Stands in for libcuda.so.1, of this program alone (NVRTC looks for it too): contexts that a thread pushes and pops,
// and nothing else.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {
thread_local std::vector<CUcontext> stack;
char contexts[16];
}  // namespace

extern "C" {
int fake_current_device();
void* __real_dlopen(const char* name, int flags);
void* __wrap_dlopen(const char* name, int flags) {
  return __real_dlopen(name && std::strcmp(name, "libcuda.so.1") == 0 ? nullptr : name, flags);
}
CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(&contexts[device]);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = stack.empty() ? nullptr : stack.back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = fake_current_device();
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int room, CUdevice device) {
  std::snprintf(name, static_cast<size_t>(room),
                device ? "the second GPU that is not there" : "a GPU that is not there");
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the driver that is not there";
  return CUDA_SUCCESS;
}
// -1: none
int fake_current_device() {
  return stack.empty() ? -1 : static_cast<int>(reinterpret_cast<char*>(stack.back()) - contexts);
}
CUcontext fake_context(int device) { return reinterpret_cast<CUcontext>(&contexts[device]); }
void fake_set_device(int device) { stack.assign(1, reinterpret_cast<CUcontext>(&contexts[device])); }
}
