// SPDX-License-Identifier: Apache-2.0
// The machine's GPUs, for `penstock info` and for the choice of a device.

#include "bindings.h"
#include "device/direct_storage.h"
#include "device/gpu_backend.h"

namespace penstock::python {

void bind_gpu(nb::module_& m) {
  m.def("gpu_why_not", [] { return gpu_backend().why_not(); }, "Why no GPU can be used; empty if one can.");
  m.def(
      "gpu_count", [] { return gpu_backend().why_not().empty() ? gpu_backend().runtime().device_count() : 0; },
      "GPUs that can be used.");
  m.def("gpu_name", [](int device) { return gpu_backend().runtime().device_name(device); }, nb::arg("device"));
  m.def(
      "gpu_kernel_compiler", [] { return gpu_backend().kernel_compiler(); },
      "The library that compiles kernels, or why there is none.");
  m.def(
      "gpu_direct_storage",
      [] {
        std::string why;
        DirectStorage* storage = direct_storage(why);
        return storage ? storage->name() : "none: " + why;
      },
      "The library that reads files directly into device memory, or why there is none.");
}

}  // namespace penstock::python
