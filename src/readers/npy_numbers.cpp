// SPDX-License-Identifier: Apache-2.0
#include "readers/npy_numbers.h"

#include <algorithm>
#include <cstring>

#include "data/npy.h"

namespace penstock {

NpyNumbers read_npy_numbers(const std::string& path) {
  std::vector<uint8_t> bytes;
  read_file(path, bytes, int64_t{1} << 36);
  try {
    const NpyHeader h = read_npy_header({bytes.data(), std::min(bytes.size(), size_t{kLongestNpyHeader})},
                                        static_cast<int64_t>(bytes.size()));
    if (h.fortran_order && h.shape.size() > 1) bad_data("the elements are in the order of Fortran");
    NpyNumbers numbers{h.shape, std::vector<float>(static_cast<size_t>(h.shape.volume()))};
    dispatch(h.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const uint8_t* from = bytes.data() + h.data;
      for (float& value : numbers.values) {
        T element;
        std::memcpy(&element, from, sizeof element);
        value = static_cast<float>(element), from += sizeof element;
      }
    });
    return numbers;
  } catch (Error& e) {
    if (e.source.empty()) e.source = path;
    throw;
  }
}

}  // namespace penstock
