// SPDX-License-Identifier: Apache-2.0
// Bytes to elements by a table of 256, on the host and as the step of a GPU.
#pragma once
#include "families/table/kernels/lookup.h"
#include "operator/kernel_step.h"

namespace penstock::table {

// Elements of any type: their bytes are copied.
template <class Word> void look_up_words(const uint8_t* in, Word* out, int64_t n, const Word* table) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, in + i, sizeof eight);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) out[i + k] = table[eight >> (8 * k) & 255];
  }
  for (; i < n; ++i) out[i] = table[in[i]];
}

// Tables of `word` bytes an element, one for each channel; without an address they are in the data.
inline KernelStep lookup_step(const LookupRow& row, DType word, std::shared_ptr<const std::vector<std::byte>> data,
                              std::function<void()> host) {
  const int known = row.channels == 1 || row.channels == 3 ? static_cast<int>(row.channels) : 0;
  const int64_t each = 16 / static_cast<int64_t>(size_of(word));
  return KernelStep{
      {"families/table/kernels/lookup.h", "table::look_up", {word}, {known}, nullptr, 4 * whole::kThreads},
      row_bytes(row),
      (row.n + each - 1) / each,
      static_cast<size_t>(row.channels) * 256 * size_of(word),
      std::move(data),
      offsetof(LookupRow, own_tables),
      std::move(host)};
}

}  // namespace penstock::table
