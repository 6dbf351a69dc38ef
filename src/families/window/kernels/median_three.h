// SPDX-License-Identifier: Apache-2.0
// Medians of 3 x 3 bytes in registers, two bytes at a time. Columns are sorted first: two rows of the output share what
// they have in common. The image is extended by repeating its edge.
#pragma once
#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

struct Repeated {
  PENSTOCK_HD static int bordered(int at, int n, int) { return at < 0 ? 0 : at < n ? at : n - 1; }
};

PENSTOCK_KERNEL uint32_t middle_pair(uint32_t a, uint32_t b, uint32_t c) {
  return greater_pairs(lesser_pairs(a, b), lesser_pairs(greater_pairs(a, b), c));
}

// The median of sorted columns: rank[r] is the row of those of rank r, whose columns are `step` bytes apart.
template <int n> PENSTOCK_KERNEL uint32_t median_pair(const Pairs<n> (&rank)[3], int at, int step) {
  const Pairs<n>&low = rank[0], &mid = rank[1], &high = rank[2];
  return middle_pair(greater_pairs(greater_pairs(low.pair(at - step), low.pair(at + step)), low.pair(at)),
                     middle_pair(mid.pair(at - step), mid.pair(at + step), mid.pair(at)),
                     lesser_pairs(lesser_pairs(high.pair(at - step), high.pair(at + step)), high.pair(at)));
}
template <int n> PENSTOCK_KERNEL void sort_rows(Pairs<n>& a, Pairs<n>& b) {
  PENSTOCK_UNROLL
  for (int k = 0; k < n; ++k) sort_pair(a.odd[k], b.odd[k]), sort_pair(a.even[k], b.even[k]);
}

// Units of work are threads.
template <class T, int channels, int aligned> PENSTOCK_KERNEL void median_three(const Entry<ByteRows>& e) {
  using Columns = ByteColumns<T, channels, 1, aligned, Repeated>;
  constexpr int kWords = Columns::kWords;
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row, static_cast<uint32_t>(item), 0);
    const auto load = [&](int y) {
      uint32_t words[kWords];
      columns.load(y, words);
      return compared(words);
    };
    PENSTOCK_UNROLL_BY(1)
    for (int y = columns.begin; y < columns.end; y += 2) {
      Pairs<kWords> shared[2];  // rows that both rows of the output see
      PENSTOCK_UNROLL
      for (int j = 0; j < 2; ++j) shared[j] = load(y + j);
      sort_rows(shared[0], shared[1]);
      PENSTOCK_UNROLL_BY(1)
      for (int j = 0; j < 2 && y + j < columns.end; ++j) {
        Pairs<kWords> rank[3];
        PENSTOCK_UNROLL
        for (int k = 0; k < 2; ++k) rank[k] = shared[k];
        rank[2] = load(j == 0 ? y - 1 : y + 2);
        PENSTOCK_UNROLL
        for (int k = 0; k < 2; ++k) sort_rows(rank[k], rank[2]);
        uint32_t to[4];
        PENSTOCK_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int at = 4 * (Columns::kSide + k);
          to[k] = leading_bytes(median_pair(rank, at + 1, channels), median_pair(rank, at, channels));
        }
        columns.store(y + j, to);
      }
    }
  }
}

}  // namespace penstock::window
