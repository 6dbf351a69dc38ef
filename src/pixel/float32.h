// SPDX-License-Identifier: Apache-2.0
// log, exp, sin and cos in float32 alone, without branches, fma and libm: the same bits on every processor, and fast on
// the GPUs that have a float64 unit for 32 or 64 float32 ones. Methods as in transcendental.h. The errors are tested.
#pragma once
#include <bit>
#include <cstdint>

#include "pixel/math.h"

namespace penstock::f32 {

// log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2), as f - log_rest(f).
PENSTOCK_HD inline float log_rest(float f) {
  const float s = f / (2.0f + f), z = s * s, h = 0.5f * f * f;
  const float r = z * (0.66666667f + z * (0.4f + z * (0.28571430f + z * (0.22222222f + z * 0.18181819f))));
  return h - s * (h + r);
}

// 2 units in the last place.
PENSTOCK_HD inline float log(float x) {
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = std::bit_cast<uint32_t>(tiny ? x * 0x1p24f : x);
  const int32_t e = static_cast<int32_t>(bits - 0x3F3504F3u) >> 23;  // exponent relative to sqrt(1/2)
  const float f = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f;
  const float n = static_cast<float>(tiny ? e - 24 : e);
  const float y = n * 0.693359375f + (f + (n * -2.12194440e-4f - log_rest(f)));  // the first product is exact
  const float infinity = std::bit_cast<float>(0x7F800000u);
  return x > 0.0f ? (x == infinity ? x : y) : x == 0.0f ? -infinity : std::bit_cast<float>(0x7FC00000u);
}
PENSTOCK_HD inline float log10(float x) { return log(x) * 0.43429448f; }  // 3 units

// The logarithm of (word + 1/2) / 2^32, relative to which the error is 2^-21: also near 1.
PENSTOCK_HD inline float log_of_fraction(uint32_t word) {
  const float rest = -(static_cast<float>(~word) + 0.5f) * 0x1p-32f;
  return word >= 0xB504F334u ? rest - log_rest(rest) : log((static_cast<float>(word) + 0.5f) * 0x1p-32f);
}

// 4 units in the last place; 0 where the result would be subnormal.
PENSTOCK_HD inline float exp(float x) {
  const float v = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;
  const float n = round_even(v * 1.44269504f);
  const float r = (v - n * 0.693359375f) - n * -2.12194440e-4f;
  const float p =
      1.0f + r + r * r * (0.5f + r * (0.16666667f + r * (0.041666668f + r * (0.0083333338f + r * 0.0013888889f))));
  const int32_t e = static_cast<int32_t>(n), half = e >> 1;
  const float y = p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((e - half + 127) << 23);
  return x == x ? (x < -87.3f ? 0.0f : y) : x;
}

// sin and cos of r, |r| <= pi / 4, and of r plus `turns` quarter turns.
PENSTOCK_HD inline float sin_series(float r) {
  const float z = r * r;
  return r + r * z * (-0.16666667f + z * (0.0083333338f + z * (-1.98412701e-4f + z * 2.75573188e-6f)));
}
PENSTOCK_HD inline float cos_series(float r) {
  const float z = r * r;
  return 1.0f - (0.5f * z - z * z * (0.041666668f + z * (-0.0013888889f + z * 2.48015876e-5f)));
}
PENSTOCK_HD inline float sin_quarter(float r, int32_t turns) {
  const float v = (turns & 1) ? cos_series(r) : sin_series(r);
  return (turns & 2) ? -v : v;
}
// Absolute error 2^-20 for |x| <= 2^15; larger angles have fewer digits.
PENSTOCK_HD inline float sin(float x, int32_t turns = 0) {
  const float a = x > -1e9f ? (x < 1e9f ? x : 1e9f) : -1e9f;
  const float n = round_even(a * 0.63661977f);
  const float r = ((a - n * 1.5703125f) - n * 4.83751297e-4f) - n * 7.54978942e-8f;
  return sin_quarter(clamp(r, -0.8f, 0.8f), static_cast<int32_t>(n) + turns);
}
PENSTOCK_HD inline float cos(float x) { return sin(x, 1); }

// The sine of word / 2^32 turns plus `turns` quarter turns. Absolute error 2^-22.
PENSTOCK_HD inline float sin_of_turn(uint32_t word, int32_t turns) {
  const uint32_t quarters = (word + 0x20000000u) >> 30;
  return sin_quarter(static_cast<float>(static_cast<int32_t>(word - (quarters << 30))) * 1.46291808e-9f,
                     static_cast<int32_t>(quarters) + turns);
}

// Two random words become a normal number, for each of two quarters another one (Box and Muller, "A note on the
// generation of random normal deviates", 1958). At most 6.8 in magnitude.
PENSTOCK_HD inline float normal(uint32_t radius, uint32_t turn, int32_t quarters) {
  return sqrt(-2.0f * log_of_fraction(radius)) * sin_of_turn(turn, quarters);
}

}  // namespace penstock::f32
