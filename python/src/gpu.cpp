// SPDX-License-Identifier: Apache-2.0
// The machine's GPUs, for `penstock info` and for the choice of a device.

#include "batch/transfer.h"
#include "bindings.h"
#include "device/direct_storage.h"
#include "device/gpu_backend.h"
#include "gil.h"

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
  m.def(
      "make_stream", [](int device) { return number_of_stream(runtime_of(device).take_stream(device)); },
      nb::arg("device"), "A stream of the GPU, as a number.");
  m.def(
      "drop_stream",
      [](int device, uintptr_t stream) { runtime_of(device).give_back_stream(device, stream_of_number(stream)); },
      nb::arg("device"), nb::arg("stream"));
  m.def(
      "wait_for_stream",
      [](int device, uintptr_t stream) {
        ReleaseGil release;
        runtime_of(device).synchronize(device, stream_of_number(stream));
      },
      nb::arg("device"), nb::arg("stream"), "Waits on the host.");
  m.def(
      "order_streams",
      [](int device, uintptr_t first, uintptr_t then) {
        DeviceRuntime& rt = runtime_of(device);
        rt.wait(device, stream_of_number(then), *rt.record(device, stream_of_number(first)));
      },
      nb::arg("device"), nb::arg("first"), nb::arg("then"), "Work on `then` begins after what is on `first` now.");
}

}  // namespace penstock::python
