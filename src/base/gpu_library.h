// SPDX-License-Identifier: Apache-2.0
// The library with Penstock's GPU part, as far as memory and streams need it. It is loaded at run time. What else it
// offers is in device/gpu_backend.h.
#pragma once
#include <string>

#include "base/device_runtime.h"

namespace penstock {

class GpuLibrary {
 public:
  virtual ~GpuLibrary();
  virtual std::string why_not() const = 0;  // empty if a GPU can be used, else the reason
  virtual DeviceRuntime& runtime() = 0;     // call this only if why_not() is empty
};

// The library beside this one, or the one that PENSTOCK_GPU_LIBRARY names; loaded at the first call. If it is missing
// or finds no GPU, why_not() says so. Never throws.
GpuLibrary& gpu_library();
// For the loaded library: exported as `extern "C" penstock::GpuLibrary* penstock_gpu_library()`.
constexpr const char* kGpuLibraryEntry = "penstock_gpu_library";
// Another function that the library exports; null if it has none of this name.
void* gpu_library_symbol(const char* name);

}  // namespace penstock
