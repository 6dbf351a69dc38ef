// SPDX-License-Identifier: Apache-2.0
// A GPU's memory allocated by two Python functions.
#include "bindings.h"
#include "interop.h"

namespace penstock::python {
namespace {

// CUDA's null handle, which frameworks use for the legacy default stream.
uintptr_t handle_number(StreamHandle stream) {
  return stream == kLegacyStream ? 0 : reinterpret_cast<uintptr_t>(stream);
}

class PythonDeviceMemory final : public MemoryResource {
 public:
  PythonDeviceMemory(nb::object allocate, nb::object free, Device device)
      : allocate_(keep(allocate.ptr())), free_(keep(free.ptr())), device_(device) {}
  void* allocate(size_t bytes, StreamHandle stream) override {
    HoldGil gil;
    uintptr_t address = 0;
    try {
      address = nb::cast<uintptr_t>(
          called(function(allocate_), nb::make_tuple(bytes, static_cast<int>(device_.id), handle_number(stream))));
    } catch (const nb::python_error& e) {
      fail(ErrorKind::out_of_memory, "the program's allocator failed to allocate {} bytes on {}: {}", bytes,
           name_of(device_), e.what());
    }
    if (!address)
      fail(ErrorKind::out_of_memory, "the program's allocator failed to allocate {} bytes on {}", bytes,
           name_of(device_));
    return reinterpret_cast<void*>(address);
  }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    if (!Py_IsInitialized()) return;
    const HoldGil gil;
    try {
      called(function(free_), nb::make_tuple(reinterpret_cast<uintptr_t>(p), bytes, static_cast<int>(device_.id),
                                             handle_number(stream)));
    } catch (nb::python_error& e) {
      e.discard_as_unraisable("penstock.set_device_allocator's free");
    } catch (...) {
    }
  }
  Device device() const override { return device_; }

 private:
  static nb::handle function(const std::shared_ptr<void>& f) { return static_cast<PyObject*>(f.get()); }
  std::shared_ptr<void> allocate_, free_;
  Device device_;
};

}  // namespace

void bind_device_memory(nb::module_& m) {
  m.def(
      "set_device_allocator",
      [](nb::object allocate, nb::object free, nb::object device) {
        const int most = device.is_none() ? runtime_of(0).device_count() : nb::cast<int>(device) + 1;
        for (int d = device.is_none() ? 0 : most - 1; d < most; ++d) {
          std::shared_ptr<MemoryResource> memory;
          const Device gpu{DeviceKind::gpu, static_cast<int16_t>(d)};
          if (!allocate.is_none()) memory = std::make_shared<PythonDeviceMemory>(allocate, free, gpu);
          runtime_of(d).set_memory(d, std::move(memory));
        }
      },
      nb::arg("allocate") = nb::none(), nb::arg("free") = nb::none(), nb::arg("device") = nb::none(),
      "Allocates the memory of a GPU by two functions, or by Penstock's own pool again.\n"
      "\n"
      "Any thread may call the functions.\n"
      "\n"
      "Args:\n"
      "    allocate: allocate(nbytes, device, stream) returns an address, a multiple of 256; streams are\n"
      "        CUDA handles. None: Penstock's own pool.\n"
      "    free: free(address, nbytes, device, stream) frees the memory.\n"
      "    device: The number of the GPU; None: all of them.");
}

}  // namespace penstock::python
