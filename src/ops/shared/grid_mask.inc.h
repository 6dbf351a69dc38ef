// SPDX-License-Identifier: Apache-2.0
// Included once per target by grid_mask.cpp. The compiler vectorizes the loop.

// Which pixels of a row become 0.
inline void mask_row(const GridMaskRule::Coef& coef, int64_t width, int64_t y, uint8_t* to) {
  const GridMaskRule::Coef c = coef;
  constexpr int kBlock = 1024;
  for (int64_t begin = 0; begin < width; begin += kBlock) {
    const auto n = static_cast<int>(width - begin < kBlock ? width - begin : kBlock);
    const auto first = static_cast<double>(begin), row = static_cast<double>(y);
    uint8_t* __restrict out = to + begin;
    for (int i = 0; i < n; ++i) out[i] = GridMaskRule::masked(first + i, row, c);
  }
}
