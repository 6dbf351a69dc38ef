// SPDX-License-Identifier: Apache-2.0
// What the code in this room needs in addition to memory and streams: kernels compiled from text. There are two
// implementations: cudart/driver.cpp, and in tests/emulated_gpu/ one that compiles the same texts for the host, so that
// machines without a GPU can test them.
#pragma once
#include <functional>

#include "base/device_runtime.h"

namespace penstock {

class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
};

// Bytes of a table that is passed with the launch: all drivers accept this much as parameters.
constexpr size_t kTableParameter = 4080;

// What the driver sends along with a stream's commands when it is copied from pageable memory. A copy from page-locked
// memory is work for another unit of the device, for which kernels before and after it wait: 15 us for a few bytes.
constexpr size_t kCommandBytes = 64 * 1024;

// Threads of a launch. All kernels have one parameter: a pointer to a table in device memory, or such a table itself.
struct Launch {
  int64_t blocks = 1;
  int threads = 256;
  size_t shared_bytes = 0;  // dynamic
  bool by_value = false;    // the table's kTableParameter bytes are on the host and are read at once
};

class Driver : public DeviceRuntime {
 public:
  // The kernel `extern "C" __global__ void entry(const char* table)` of a self-contained text (CUDA C++17, no
  // includes). It is prebuilt, or compiled once for each kind of device and kept in memory and on disk. Thread-safe.
  // Null if texts cannot be compiled here (no NVRTC): `why` then says why; throws ErrorKind::internal with the
  // compiler's log if the text is wrong.
  virtual std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                                     std::string& why) = 0;
  // The slow part of kernel() as work for another thread, after which kernel() is quick. It uses neither the GPU nor
  // anything that an exit destroys, so that a program may end meanwhile. Empty if there is nothing to do.
  virtual std::function<void()> compilation(int device, const std::string& text, const std::string& entry) = 0;
  // Like kernel(), for a text that was compiled with the library (cuda/stages/texts.h), which needs no compiler. Null
  // if it was not, or not for this kind of device.
  virtual std::shared_ptr<const DeviceKernel> prebuilt_kernel(int, const std::string& /*text*/,
                                                              const std::string& /*entry*/) {
    return nullptr;
  }
  virtual void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table,
                      StreamHandle stream) = 0;
  virtual int multiprocessors(int device) const = 0;
  virtual size_t most_shared_bytes(int device) const = 0;  // per block, opted in
  // A copy in device memory, on the stream, of bytes on the host, which may change as soon as it returns.
  std::shared_ptr<void> table_on_device(int device, const void* table, size_t bytes, StreamHandle stream);
};

// Defined once in each library that is loaded: the real one, the emulated one. Throws Error with the reason if there is
// no device.
std::unique_ptr<Driver> make_driver();

}  // namespace penstock
