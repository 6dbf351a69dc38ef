// SPDX-License-Identifier: Apache-2.0
// A block's tile of an image with what is seen beside it.
#pragma once
#include <cstdint>

#include "launch/entry.h"

namespace penstock::window {

using namespace whole;

// The pixel that is seen, or -1. Not inlined: few are outside, and a compiler takes long for the divisions of borders.
template <class Rule> __attribute__((noinline)) PENSTOCK_HD int64_t seen_pixel(int64_t at, int64_t n, int border) {
  return Rule::bordered(at, n, border);
}

// `columns` elements of `rows` rows, from element x0 of row y0 on, as converted(element). Row: height, width, channels,
// border of the image, and `left`, which x0 is before it at most. Outside a constant border are zeros. Rule: bordered()
// of ImageRule. A warp takes a row.
template <class Rule, class T, class L, class Row, class Convert>
PENSTOCK_KERNEL void load_rows(L* tile, const T* in, const Row& r, int64_t x0, int64_t y0, int columns, int rows,
                               const Convert& converted) {
  const int channels = static_cast<int>(r.channels);
  const int64_t length = r.width * r.channels;
  const L fill = converted(static_cast<T>(0.0f));
  PENSTOCK_UNROLL_BY(1)
  for (int item = thread(); item < 32 * rows; item += threads()) {
    const int row = item / 32, lane = item % 32;
    int64_t y = y0 + row;
    if (static_cast<uint64_t>(y) >= static_cast<uint64_t>(r.height)) y = seen_pixel<Rule>(y, r.height, r.border);
    L* const to = tile + row * columns;
    const T* const from = in + (y < 0 ? 0 : y) * length;
    if (y >= 0 && x0 >= 0 && x0 + columns <= length) {
      PENSTOCK_UNROLL_BY(4)
      for (int c = lane; c < columns; c += 32) to[c] = converted(from[x0 + c]);
      continue;
    }
    PENSTOCK_UNROLL_BY(1)
    for (int c = lane; c < columns; c += 32) {
      int64_t at = x0 + c;
      if (y >= 0 && static_cast<uint64_t>(at) >= static_cast<uint64_t>(length)) {
        // As many pixels as a window reaches to the left keep the division positive.
        const int64_t pixel = (at + r.left * r.channels) / r.channels - r.left;
        const int64_t x = seen_pixel<Rule>(pixel, r.width, r.border);
        at = x < 0 ? -1 : at + (x - pixel) * channels;
      }
      to[c] = y < 0 || at < 0 ? fill : converted(from[at]);
    }
  }
  wait_for_block();
}

}  // namespace penstock::window
