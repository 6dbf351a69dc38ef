// SPDX-License-Identifier: Apache-2.0
// Pixels of frames: luma and chroma, or two bytes of bits, as colors. Both devices compute them with this, whether a
// frame is converted as a whole or read pixel by pixel.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock::frame {

// What the samples at a pixel are: three or four colors; gray; luma and two chromas; two bytes with the bits of blue,
// green and red (and of alpha).
enum Kind : int32_t { colors, gray, chroma, bits565, bits555 };

// Integers with a fraction of `bits` bits. To colors: of luma less black, and of chroma less 128. To luma: of colors,
// with the sums' offsets, which include a half.
struct Matrix {
  int32_t luma, red_of_v, green_of_u, green_of_v, blue_of_u, black;
  int32_t y[3], u[3], v[3], y_offset, c_offset, bits;
};

template <class T> struct NumberOf {
  typedef int32_t type;
  static constexpr int32_t kFull = sizeof(T) == 1 ? 255 : 65535;
};
template <> struct NumberOf<float> {
  typedef float type;
  static constexpr float kFull = 1.0f;
};
template <class T> using Number = typename NumberOf<T>::type;
template <class T> struct Pixel {
  Number<T> red, green, blue, alpha;
};

PENSTOCK_HD inline int32_t saturated(int32_t v) { return v < 0 ? 0 : v > 255 ? 255 : v; }
PENSTOCK_HD inline int32_t gray_of(int32_t red, int32_t green, int32_t blue) {
  return static_cast<int32_t>((static_cast<uint32_t>(red) * 9798u + static_cast<uint32_t>(green) * 19235u +
                               static_cast<uint32_t>(blue) * 3735u + 16384u) >>
                              15);
}
PENSTOCK_HD inline float gray_of(float red, float green, float blue) {
  return red * 0.299f + green * 0.587f + blue * 0.114f;
}
// Values of bytes.
PENSTOCK_HD inline Pixel<uint8_t> of_chroma(const Matrix& m, int32_t y, int32_t u, int32_t v) {
  const int32_t above = y > m.black ? y - m.black : 0, half = 1 << (m.bits - 1);
  const int32_t light = above * m.luma + half, cb = u - 128, cr = v - 128;
  return {saturated((light + cr * m.red_of_v) >> m.bits),
          saturated((light + cr * m.green_of_v + cb * m.green_of_u) >> m.bits),
          saturated((light + cb * m.blue_of_u) >> m.bits), 255};
}
PENSTOCK_HD inline Pixel<uint8_t> of_bits565(int32_t bits) {
  return {bits >> 8 & 0xF8, bits >> 3 & 0xFC, bits << 3 & 0xF8, 255};
}
PENSTOCK_HD inline Pixel<uint8_t> of_bits555(int32_t bits) {
  return {bits >> 7 & 0xF8, bits >> 2 & 0xF8, bits << 3 & 0xF8, bits & 0x8000 ? 255 : 0};
}

}  // namespace penstock::frame
