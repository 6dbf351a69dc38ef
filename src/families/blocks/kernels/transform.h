// SPDX-License-Identifier: Apache-2.0
// What JPEG preserves of 8 x 8 samples at a quality, in integers as libjpeg-turbo computes it. ITU-T T.81; transforms
// after C. Loeffler, A. Ligtenberg and G. Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications", 1989.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock::blocks {

struct Eight {
  int32_t v[8];
};
PENSTOCK_INLINE int32_t descale(int32_t v, int bits) { return (v + (1 << (bits - 1))) >> bits; }
struct Odd {
  int32_t a, b, c, d;
};
PENSTOCK_INLINE Odd odd_part(int32_t a, int32_t b, int32_t c, int32_t d) {
  const int32_t z5 = (a + c + b + d) * 9633;
  const int32_t z1 = (a + d) * -7373;
  const int32_t z2 = (b + c) * -20995;
  const int32_t z3 = (a + c) * -16069 + z5;
  const int32_t z4 = (b + d) * -3196 + z5;
  return {a * 2446 + z1 + z3, b * 16819 + z2 + z4, c * 25172 + z2 + z3, d * 12299 + z1 + z4};
}
// `shift` of the even part's sums (to the left where negative), `bits` of the products.
PENSTOCK_INLINE Eight forward(const int32_t* in, int step, int shift, int bits) {
  int32_t s[4], d[4];
  for (int i = 0; i < 4; ++i) {
    s[i] = in[i * step] + in[(7 - i) * step];
    d[i] = in[i * step] - in[(7 - i) * step];
  }
  const int32_t t10 = s[0] + s[3], t13 = s[0] - s[3], t11 = s[1] + s[2], t12 = s[1] - s[2];
  const int32_t z = (t12 + t13) * 4433;
  const Odd o = odd_part(d[3], d[2], d[1], d[0]);
  Eight r;
  r.v[0] = shift < 0 ? (t10 + t11) * (1 << -shift) : descale(t10 + t11, shift);
  r.v[4] = shift < 0 ? (t10 - t11) * (1 << -shift) : descale(t10 - t11, shift);
  r.v[2] = descale(z + t13 * 6270, bits);
  r.v[6] = descale(z - t12 * 15137, bits);
  r.v[7] = descale(o.a, bits);
  r.v[5] = descale(o.b, bits);
  r.v[3] = descale(o.c, bits);
  r.v[1] = descale(o.d, bits);
  return r;
}
PENSTOCK_INLINE Eight inverse(const int32_t* in, int step, int bits) {
  const int32_t z = (in[2 * step] + in[6 * step]) * 4433;
  const int32_t t2 = z - in[6 * step] * 15137, t3 = z + in[2 * step] * 6270;
  const int32_t t0 = (in[0] + in[4 * step]) * 8192, t1 = (in[0] - in[4 * step]) * 8192;
  const Odd o = odd_part(in[7 * step], in[5 * step], in[3 * step], in[step]);
  Eight r;
  r.v[0] = descale(t0 + t3 + o.d, bits);
  r.v[7] = descale(t0 + t3 - o.d, bits);
  r.v[1] = descale(t1 + t2 + o.c, bits);
  r.v[6] = descale(t1 + t2 - o.c, bits);
  r.v[2] = descale(t1 - t2 + o.b, bits);
  r.v[5] = descale(t1 - t2 - o.b, bits);
  r.v[3] = descale(t0 - t3 + o.a, bits);
  r.v[4] = descale(t0 - t3 - o.a, bits);
  return r;
}
// Around 0.
PENSTOCK_INLINE int32_t luma_of(int32_t r, int32_t g, int32_t b) {
  return ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16) - 128;
}
PENSTOCK_INLINE int32_t blue_of(int32_t r, int32_t g, int32_t b) {
  return (-11059 * r - 21709 * g + 32768 * b + 8421375) >> 16;
}
PENSTOCK_INLINE int32_t red_of(int32_t r, int32_t g, int32_t b) {
  return (32768 * r - 27439 * g - 5329 * b + 8421375) >> 16;
}
// The nearest multiple of the step; v has a factor of 8. The quotient is exact: both numbers are less than 2^23.
PENSTOCK_INLINE int32_t quantized(int32_t v, int32_t step) {
  const float a = static_cast<float>((v < 0 ? -v : v) + step * 4);
  const int32_t size = static_cast<int32_t>(a / static_cast<float>(step * 8)) * step;
  return v < 0 ? -size : size;
}
PENSTOCK_INLINE uint8_t byte_of(int32_t v) { return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v); }
// A sample of chroma of four of these sums: rounds down and up alternately.
PENSTOCK_INLINE int32_t chroma_of(int32_t sum, int column) { return ((sum + (column & 1) + 1) >> 2) - 128; }
// Chroma between columns: sums of a column and of the one at the other side, each 3 times the near row and once the far
// one.
PENSTOCK_INLINE int32_t even_column(int32_t own, int32_t other) { return (3 * own + other + 8) >> 4; }
PENSTOCK_INLINE int32_t odd_column(int32_t own, int32_t other) { return (3 * own + other + 7) >> 4; }
// What is added to luma. Blue and red are around 0.
PENSTOCK_INLINE int32_t to_red(int32_t r) { return (91881 * r + 32768) >> 16; }
PENSTOCK_INLINE int32_t to_green(int32_t b, int32_t r) { return (-22554 * b - 46802 * r + 32768) >> 16; }
PENSTOCK_INLINE int32_t to_blue(int32_t b) { return (116130 * b + 32768) >> 16; }

}  // namespace penstock::blocks
