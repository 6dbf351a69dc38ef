// SPDX-License-Identifier: Apache-2.0
// For penstock/_operators/packing.py.
#include "data/row_packing.h"

#include <cstring>

#include "bindings.h"
#include "gil.h"

namespace penstock::python {

// Numbers as bytes, which numpy.frombuffer takes: lengths and samples are uint32, the first places of rows int64.
void bind_row_packing(nb::module_& m) {
  m.def("pack_rows", [](nb::bytes lengths, int64_t row_length, int64_t window, uint64_t seed) {
    std::vector<uint32_t> numbers(lengths.size() / sizeof(uint32_t));
    std::memcpy(numbers.data(), lengths.data(), numbers.size() * sizeof(uint32_t));
    const PackedRows rows = [&] {
      ReleaseGil release;
      const Packing packing{.row_length = static_cast<double>(row_length), .window = window, .seed = seed};
      return pack_rows(std::span<const uint32_t>(numbers), packing);
    }();
    return nb::make_tuple(
        nb::bytes(reinterpret_cast<const char*>(rows.samples.data()), rows.samples.size() * sizeof(uint32_t)),
        nb::bytes(reinterpret_cast<const char*>(rows.first.data()), rows.first.size() * sizeof(int64_t)));
  });
}

}  // namespace penstock::python
