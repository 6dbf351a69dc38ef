// SPDX-License-Identifier: Apache-2.0
// For penstock/service.
#include "base/checksum.h"

#include "bindings.h"
#include "gil.h"

namespace penstock::python {

// The memory is given by its address: NumPy knows it, and Py_buffer is not in the stable ABI of all versions.
void bind_checksum(nb::module_& m) {
  m.def("crc32c", [](uintptr_t address, size_t bytes, uint32_t before) {
    ReleaseGil release;
    return crc32c({reinterpret_cast<const uint8_t*>(address), bytes}, before);
  });
}

}  // namespace penstock::python
