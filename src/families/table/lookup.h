// SPDX-License-Identifier: Apache-2.0
// Bytes to elements by a table of 256, as the step of a GPU; pixel/byte_table.h is for the host.
#pragma once
#include "families/table/kernels/lookup.h"
#include "operator/kernel_step.h"

namespace penstock::table {

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
