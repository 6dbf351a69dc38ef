// SPDX-License-Identifier: Apache-2.0
// Teams that find edges by Canny's method.
#pragma once
#include "families/team/kernels/regions.h"

namespace penstock {

// Gradients around one whose derivatives are x and y: before and after it across, down, and along the two diagonals.
struct GradientsAround {
  int32_t left, right, up, under, up_left, up_right, under_left, under_right;
};
// 2 where a gradient m of more than `high` is the largest along its direction, across, along a diagonal or down; 1
// where such a one is more than `low`; else 0. All numbers fit 32 bits: derivatives of bytes have 14. Choices are of
// numbers, which vectors have.
PENSTOCK_INLINE int32_t canny_mark(int32_t x, int32_t y, int32_t m, const GradientsAround& g, int32_t low,
                                   int32_t high) {
  constexpr int kBits = 15;
  constexpr int32_t kTangent = 13573;  // of 22.5 degrees, times 2^15
  const int32_t across = x < 0 ? -x : x, down = (y < 0 ? -y : y) << kBits;
  const int32_t flat = across * kTangent, steep = flat + (across << (kBits + 1));
  const int32_t turn = x ^ y;
  const int32_t slanted = turn < 0 ? g.up_right : g.up_left, slanted_on = turn < 0 ? g.under_left : g.under_right;
  const int32_t upright = down > steep ? g.up : slanted, upright_on = down > steep ? g.under : slanted_on + 1;
  const int32_t before = down < flat ? g.left : upright;
  const int32_t after = down < flat ? g.right : upright_on;  // of two equal ones, the second goes on
  int32_t mark = m > high ? 2 : 1;
  mark = m > low ? mark : 0;
  mark = m > before ? mark : 0;
  mark = m >= after ? mark : 0;
  return mark;
}

struct CannyCoef {
  int64_t height, width, channels;
  int32_t window_size;
  int32_t low, high;
  int32_t squared;
};

// What the kernels share, for each pixel.
struct CannyArrays {
  int32_t *dx, *dy, *size;  // of the gradient
  int32_t *parent, *begun;  // in place of the derivatives: the region of possible edges, and whether an edge begins
  PENSTOCK_HD CannyArrays(void* memory, int64_t pixels)
      : dx(static_cast<int32_t*>(memory)), dy(dx + pixels), size(dy + pixels), parent(dx), begun(dy) {}
};

}  // namespace penstock
