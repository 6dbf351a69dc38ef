// SPDX-License-Identifier: Apache-2.0
// The vocabulary of pixel(): branch-free, the same on every target, for float, double and the integer lanes.
// Nothing here calls libm except through builtins that are exact by IEEE 754 (fma, rint, floor, sqrt, fmod).
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "pixel/host_device.h"

namespace penstock {

template <class V> struct Rgb {
  V r, g, b;
};

PENSTOCK_HD inline float fma(float a, float b, float c) { return PENSTOCK_EXACT(__fmaf_rn, __builtin_fmaf)(a, b, c); }
PENSTOCK_HD inline double fma(double a, double b, double c) { return PENSTOCK_EXACT(__fma_rn, __builtin_fma)(a, b, c); }
template <class V> PENSTOCK_HD inline V min(V a, V b) { return b < a ? b : a; }
template <class V> PENSTOCK_HD inline V max(V a, V b) { return a < b ? b : a; }
template <class V> PENSTOCK_HD inline V clamp(V v, V lo, V hi) { return min(max(v, lo), hi); }
template <class V> PENSTOCK_HD inline V select(bool c, V a, V b) { return c ? a : b; }
template <class V> PENSTOCK_HD inline bool less(V a, V b) { return a < b; }
PENSTOCK_HD inline float round_even(float v) { return PENSTOCK_EXACT(::rintf, __builtin_rintf)(v); }
PENSTOCK_HD inline double round_even(double v) { return PENSTOCK_EXACT(::rint, __builtin_rint)(v); }
PENSTOCK_HD inline float floor(float v) { return PENSTOCK_EXACT(::floorf, __builtin_floorf)(v); }
PENSTOCK_HD inline double floor(double v) { return PENSTOCK_EXACT(::floor, __builtin_floor)(v); }
PENSTOCK_HD inline double ceil(double v) { return PENSTOCK_EXACT(::ceil, __builtin_ceil)(v); }
PENSTOCK_HD inline float abs(float v) { return PENSTOCK_EXACT(::fabsf, __builtin_fabsf)(v); }
PENSTOCK_HD inline double abs(double v) { return PENSTOCK_EXACT(::fabs, __builtin_fabs)(v); }
PENSTOCK_HD inline float sqrt(float v) { return PENSTOCK_EXACT(__fsqrt_rn, __builtin_sqrtf)(v); }
PENSTOCK_HD inline double sqrt(double v) { return PENSTOCK_EXACT(__dsqrt_rn, __builtin_sqrt)(v); }
PENSTOCK_HD inline float fmod(float a, float b) { return PENSTOCK_EXACT(::fmodf, __builtin_fmodf)(a, b); }
PENSTOCK_HD inline double fmod(double a, double b) { return PENSTOCK_EXACT(::fmod, __builtin_fmod)(a, b); }
PENSTOCK_HD inline double copysign(double v, double s) { return PENSTOCK_EXACT(::copysign, __builtin_copysign)(v, s); }
// a / b toward zero of integers of up to 16 bits, b not 0: rounding in float32 does not reach the next whole number.
template <class V> PENSTOCK_LOOPED int32_t narrow_quotient(V a, V b) {
  return static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(b));
}
// a / b toward zero; 0 and -1 as b give any number. Vectors of the host divide no integers, but float64 is exact here.
#ifdef __CUDA_ARCH__
PENSTOCK_HD inline int32_t whole_quotient(int32_t a, int32_t b) { return a / ((b == 0) | (b == -1) ? 1 : b); }
#else
PENSTOCK_HD inline int32_t whole_quotient(int32_t a, int32_t b) {
  return static_cast<int32_t>(min(static_cast<double>(a) / (b == 0 ? 1.0 : static_cast<double>(b)), 2147483647.0));
}
#endif
PENSTOCK_HD inline bool is_negative(double v) { return std::bit_cast<int64_t>(v) < 0; }

}  // namespace penstock
