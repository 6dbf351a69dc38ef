// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU that is not there. With PENSTOCK_EMULATED_PROTECT the host that touches it dies of it, as it does
// where the GPU is real, and so does a kernel that goes far past its end. Else it is usual memory.
#pragma once
#include <cstddef>

namespace penstock {

void* take_device_memory(size_t bytes);  // aligned to 256; null: there is none
void give_back_device_memory(void* p, size_t bytes) noexcept;

// While one lives the GPU works: all its memory can be read and written, by other threads too.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace penstock
