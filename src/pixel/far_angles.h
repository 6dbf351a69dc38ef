// SPDX-License-Identifier: Apache-2.0
// sin, cos and tan of any angle. Above 2^30 the number of quarter turns has more bits than a double. So the angle is
// multiplied by as many digits of 2 / pi as its exponent requires (M. Payne and R. Hanek, "Radian reduction for
// trigonometric functions", 1983). These functions have a branch; a loop that must be vectorized tests is_near first.
#pragma once
#include "pixel/transcendental.h"

// A GPU's kernel has the rare path once, and calls it: it is longer than all of the rest.
#ifdef __CUDACC__
#define PENSTOCK_RARE __noinline__
#else
#define PENSTOCK_RARE
#endif

namespace penstock {

PENSTOCK_HD inline bool is_near(double x) { return !(abs(x) > 0x1p30 && abs(x) < kInfinity); }
PENSTOCK_HD inline bool is_near(float x) { return !(abs(x) > 0x1p17f && abs(x) < single_precision::kInfinity); }

namespace series {
// For a finite |x| > 2^30. The error of r is 2^-53.
PENSTOCK_HD PENSTOCK_RARE inline Quarter far_quarter(double x) {
  constexpr uint32_t digits[] = {// 2 / pi, 32 bits each after the point
                                 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
                                 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
                                 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B,
                                 0xBDF9283B, 0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7,
                                 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1,
                                 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20};
  constexpr int kWords = 6;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1075;  // |x| = mantissa * 2^exponent
  const uint64_t mantissa = (bits & 0xFFFFFFFFFFFFF) | uint64_t{1} << 52;
  // The digits whose products are below 4 quarter turns: from bit `first` after the point; `first` may be negative.
  const int first = exponent - 2;
  uint32_t window[kWords];
  for (int i = 0; i < kWords; ++i) {
    const int at = first + 32 * i, word = at >= 0 ? at / 32 : -((31 - at) / 32), shift = at - 32 * word;
    const uint64_t high = word >= 0 ? digits[word] : 0, low = word >= -1 ? digits[word + 1] : 0;
    window[i] = static_cast<uint32_t>((high << 32 | low) << shift >> 32);
  }
  // mantissa * window modulo 4 quarter turns; 32-bit words, most significant first.
  uint32_t product[kWords] = {};
  for (int half = 0; half < 2; ++half) {
    const uint64_t factor = half ? mantissa >> 32 : mantissa & 0xFFFFFFFF;
    uint64_t carry = 0;
    for (int i = kWords - 1; i >= half; --i) {
      const uint64_t sum = factor * window[i] + product[i - half] + carry;
      product[i - half] = static_cast<uint32_t>(sum), carry = sum >> 32;
    }
  }
  int64_t turns = product[0] >> 30;
  uint64_t high = uint64_t{product[0]} << 34 | uint64_t{product[1]} << 2 | product[2] >> 30;
  uint64_t low = uint64_t{product[2]} << 34 | uint64_t{product[3]} << 2 | product[4] >> 30;
  const bool up = high >> 63;  // the nearest whole number is above
  if (up) high = ~high, low = ~low, ++turns;
  double r = fma(static_cast<double>(low), 0x1p-128, static_cast<double>(high) * 0x1p-64) * 1.5707963267948966;
  r = up ? -r : r;
  return x < 0 ? Quarter{-r, -turns} : Quarter{r, turns};
}
}  // namespace series

namespace single_precision {
// For a finite |x| > 2^17. The mantissa by 128 bits of 2 / pi; r has 24 digits also where x is close to a quarter turn.
PENSTOCK_HD PENSTOCK_RARE inline Quarter far_quarter(float x) {
  constexpr uint32_t digits[] = {
      0,          0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
      0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561};  // 2 / pi from the point on, after 32 zeros
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int first = static_cast<int>(bits >> 23 & 0xFF) - 150 - 2 + 32;  // |x| = mantissa * 2^(first - 30)
  const uint32_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
  uint32_t window[4];
  for (int i = 0; i < 4; ++i) {
    const int word = first / 32 + i, shift = first % 32;
    window[i] = static_cast<uint32_t>((uint64_t{digits[word]} << 32 | digits[word + 1]) << shift >> 32);
  }
  uint32_t product[4];  // modulo 4 quarter turns
  uint64_t carry = 0;
  for (int i = 3; i >= 0; --i) {
    carry += uint64_t{mantissa} * window[i];
    product[i] = static_cast<uint32_t>(carry), carry >>= 32;
  }
  int32_t turns = static_cast<int32_t>(product[0] >> 30);
  uint64_t part = uint64_t{product[0]} << 34 | uint64_t{product[1]} << 2 | product[2] >> 30;
  const bool up = part >> 63;  // the nearest whole number is above
  if (up) part = ~part, ++turns;
  const float high = static_cast<float>(part),
              low = static_cast<float>(static_cast<int64_t>(part - static_cast<uint64_t>(high)));
  const float factor = 1.57079637f * 0x1p-64f, r = high * factor;
  const float rest = fma(high, factor, -r) + fma(high, -4.37113883e-8f * 0x1p-64f, low * factor);
  const float sign = up != (x < 0.0f) ? -1.0f : 1.0f;
  return {{sign * r, sign * rest}, x < 0.0f ? -turns : turns};
}
}  // namespace single_precision

PENSTOCK_HD inline double sin_of_any(double x) {
  return is_near(x) ? sin(x) : series::sin_quarter(series::far_quarter(x));
}
PENSTOCK_HD inline double cos_of_any(double x) {
  if (is_near(x)) return cos(x);
  series::Quarter q = series::far_quarter(x);
  q.turns += 1;
  return series::sin_quarter(q);
}
PENSTOCK_HD inline double tan_of_any(double x) { return sin_of_any(x) / cos_of_any(x); }

PENSTOCK_HD inline float sin_of_any(float x) {
  return is_near(x) ? sin(x) : single_precision::sin_quarter(single_precision::far_quarter(x));
}
PENSTOCK_HD inline float cos_of_any(float x) {
  return is_near(x) ? cos(x)
                    : single_precision::sin_quarter(single_precision::turned(single_precision::far_quarter(x)));
}
PENSTOCK_HD inline float tan_of_any(float x) {
  return is_near(x) ? tan(x) : single_precision::tan_quarter(single_precision::far_quarter(x));
}

}  // namespace penstock
