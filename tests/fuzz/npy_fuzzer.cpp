// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file.
#include "data/npy.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  fuzz::may_refuse([&] {
    const NpyHeader h = read_npy_header(exact, static_cast<int64_t>(size));
    bool empty = false;
    for (const int64_t e : h.shape) empty |= e == 0;
    if (!empty && h.data + h.shape.volume() * static_cast<int64_t>(size_of(h.dtype)) > static_cast<int64_t>(size))
      std::abort();
  });
  return 0;
}
