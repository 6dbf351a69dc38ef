// SPDX-License-Identifier: Apache-2.0
// Means of rectangles of whole bytes.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock {

struct WholeMeans {
  static constexpr int kMostRows = 257;  // whose sums 16 bits hold
  // sums[i] = the sum over k < count of rows[k][i].
  void (*add_rows)(const uint8_t* const* rows, int count, uint16_t* sums, int64_t n);
  // The n means of `factor` pixels beside each other, of `channels` elements each; halves become even.
  void (*means)(const uint16_t* sums, int channels, int factor, float scale, uint8_t* out, int64_t n);
  // The n means of two pixels of row a and the two below them, of 1, 3 or 4 channels; halves go up.
  void (*means_of_four)(const uint8_t* a, const uint8_t* b, int channels, uint8_t* out, int64_t n);
};
const WholeMeans& whole_means(Target t);

}  // namespace penstock
