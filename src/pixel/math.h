// SPDX-License-Identifier: Apache-2.0
// The vocabulary of pixel(): branch-free, the same on every target, for float, double and the integer lanes.
// Nothing here calls libm except through builtins that are exact by IEEE 754 (fma, rint, floor, sqrt).
#pragma once
#include <cstdint>
#include <type_traits>

#include "pixel/host_device.h"

namespace penstock {

template <class V> struct Rgb { V r, g, b; };

PENSTOCK_HD inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PENSTOCK_HD inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class V> PENSTOCK_HD inline V min(V a, V b) { return b < a ? b : a; }
template <class V> PENSTOCK_HD inline V max(V a, V b) { return a < b ? b : a; }
template <class V> PENSTOCK_HD inline V clamp(V v, V lo, V hi) { return min(max(v, lo), hi); }
template <class V> PENSTOCK_HD inline V select(bool c, V a, V b) { return c ? a : b; }
template <class V> PENSTOCK_HD inline bool less(V a, V b) { return a < b; }
PENSTOCK_HD inline float round_even(float v) { return __builtin_rintf(v); }
PENSTOCK_HD inline double round_even(double v) { return __builtin_rint(v); }
PENSTOCK_HD inline float floor(float v) { return __builtin_floorf(v); }
PENSTOCK_HD inline double floor(double v) { return __builtin_floor(v); }
PENSTOCK_HD inline float abs(float v) { return __builtin_fabsf(v); }
PENSTOCK_HD inline double abs(double v) { return __builtin_fabs(v); }
PENSTOCK_HD inline float sqrt(float v) { return __builtin_sqrtf(v); }
PENSTOCK_HD inline double sqrt(double v) { return __builtin_sqrt(v); }

}  // namespace penstock
