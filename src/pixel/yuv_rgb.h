// SPDX-License-Identifier: Apache-2.0
// Y'CbCr 4:2:0 to RGB with the integer arithmetic of libswscale, which converts on the CPU: equal bit for bit. Two
// cases: with 8 bits, a chroma sample serves its 2 x 2 pixels; with more bits, chroma is interpolated between
// rows. The matrices follow ITU-T H.273; codecs/video/frame_colors.h computes the numbers.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

struct YuvRgb {
  // 8 bits: factors of a product's upper half; the offset of Y in eighths.
  int32_t y, v_red, u_green, v_green, u_blue, y_offset;
  // More bits, in 1/65536.
  int32_t luma, red, green_u, green_v, blue, base;
};

PENSTOCK_INLINE int32_t to_byte(int32_t v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// All values have 8 bits.
PENSTOCK_INLINE void yuv8_to_rgb(const YuvRgb& m, int32_t y, int32_t u, int32_t v, int32_t* rgb) {
  const int32_t light = ((y * 8 - m.y_offset) * m.y) >> 16;
  const int32_t cb = u * 8 - 1024, cr = v * 8 - 1024;
  rgb[0] = to_byte(light + ((cr * m.v_red) >> 16));
  rgb[1] = to_byte(light + ((cb * m.u_green) >> 16) + ((cr * m.v_green) >> 16));
  rgb[2] = to_byte(light + ((cb * m.u_blue) >> 16));
}

// For samples of `bits` bits, 9 to 14.
PENSTOCK_INLINE int32_t luma_of_deep(int32_t y, int32_t bits) { return ((y << (15 - bits)) + 64) >> 7; }

// The chroma rows that contribute to a row of the picture, and their weights in 1/4096: bicubic (B = 0, C = 0.6) at a
// quarter of a row, with the roundings of libswscale, also at the upper edge. Rows outside are clamped to the edge.
struct ChromaTaps {
  int32_t first, weight[4];
};
PENSTOCK_INLINE ChromaTaps chroma_taps(int32_t row) {
  if (row == 0) return {0, {4432, -336, 0, 0}};
  if (row == 2) return {0, {959, 3473, -336, 0}};
  if (row % 2) return {row / 2 - 1, {-346, 3572, 985, -115}};
  return {row / 2 - 2, {-115, 985, 3572, -346}};
}
// The weighted sum of samples << (15 - bits), as a byte.
PENSTOCK_INLINE int32_t chroma_of_deep(int32_t sum) { return to_byte((sum + (1 << 18)) >> 19); }

// y from luma_of_deep(), up to 256; u, v from chroma_of_deep().
PENSTOCK_INLINE void deep_to_rgb(const YuvRgb& m, int32_t y, int32_t u, int32_t v, int32_t* rgb) {
  const int32_t red = ((v * m.red) >> 16) - (m.red >> 9), blue = ((u * m.blue) >> 16) - (m.blue >> 9);
  const int32_t green = ((u * m.green_u) >> 16) - (m.green_u >> 9) + ((v * m.green_v) >> 16) - (m.green_v >> 9);
  rgb[0] = to_byte((m.base + (y + red) * m.luma) >> 16);
  rgb[1] = to_byte((m.base + (y + green) * m.luma) >> 16);
  rgb[2] = to_byte((m.base + (y + blue) * m.luma) >> 16);
}

}  // namespace penstock
