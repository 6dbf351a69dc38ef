// SPDX-License-Identifier: Apache-2.0
// The sizes of gradients, included once per target by canny_edges.cpp.

inline void sizes(const int32_t* dx, const int32_t* dy, bool squared, int64_t n, int32_t* to) {
  if (squared) {
    for (int64_t i = 0; i < n; ++i) to[i] = dx[i] * dx[i] + dy[i] * dy[i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = std::abs(dx[i]) + std::abs(dy[i]);
  }
}

// 2 where a gradient of more than `high` is the largest along its direction, across, along a diagonal or down; 1 where
// such a one is more than `low`; else 0. All numbers fit 32 bits: derivatives of bytes have 14.
inline void thin(const int32_t* dx, const int32_t* dy, const int32_t* size, const int32_t* above, const int32_t* below,
                 int32_t low, int32_t high, int64_t n, int32_t* marks) {
  constexpr int kBits = 15;
  constexpr int32_t kTangent = 13573;  // of 22.5 degrees, times 2^15
  for (int64_t i = 0; i < n; ++i) {
    const int32_t m = size[i], x = dx[i], y = dy[i];
    const int32_t across = x < 0 ? -x : x, down = (y < 0 ? -y : y) << kBits;
    const int32_t flat = across * kTangent, steep = flat + (across << (kBits + 1));
    // All are read, so that no read depends on another number; choices are of numbers, which vectors have.
    const int32_t left = size[i - 1], right = size[i + 1], up = above[i], under = below[i];
    const int32_t up_left = above[i - 1], up_right = above[i + 1];
    const int32_t under_left = below[i - 1], under_right = below[i + 1];
    const int32_t turn = x ^ y;
    const int32_t slanted = turn < 0 ? up_right : up_left, slanted_on = turn < 0 ? under_left : under_right;
    const int32_t upright = down > steep ? up : slanted, upright_on = down > steep ? under : slanted_on + 1;
    const int32_t before = down < flat ? left : upright;
    const int32_t after = down < flat ? right : upright_on;  // of two equal ones, the second goes on
    int32_t mark = m > high ? 2 : 1;
    mark = m > low ? mark : 0;
    mark = m > before ? mark : 0;
    mark = m >= after ? mark : 0;
    marks[i] = mark;
  }
}
