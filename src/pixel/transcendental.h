// SPDX-License-Identifier: Apache-2.0
// exp, log, sin, cos and their relatives in float64, with explicit fma, without branches and without libm: the same
// bits on every processor. float32 has its own forms (transcendental32.h). Accuracy is stated at each function and
// tested against long double. Methods: argument reduction (Cody and Waite, "Software Manual for the Elementary
// Functions", 1980) and Taylor or artanh series; the two-term form of log follows its series log(1 + f) = f - (f^2/2
// - s (f^2/2 + R)), s = f / (2 + f).
#pragma once
#include <bit>

#include "pixel/math.h"
#include "pixel/transcendental32.h"

namespace penstock {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::bit_cast<double>(uint64_t{0x7FF0000000000000});
constexpr double kNan = std::bit_cast<double>(uint64_t{0x7FF8000000000000});

namespace series {
// The sum of c[i] x^i by Horner's rule. Recursive, because a loop inside a loop over elements is not vectorized.
template <int i = 0, int n> PENSTOCK_LOOPED double polynomial(double x, const double (&c)[n]) {
  if constexpr (i == n - 1) return c[i];
  else return fma(polynomial<i + 1>(x, c), x, c[i]);
}
// 2^n for integral n in [-1022, 1023]: adding 1.5 * 2^52 puts n into the low bits.
PENSTOCK_LOOPED double power_of_two(double n) {
  return std::bit_cast<double>((std::bit_cast<int64_t>(n + 0x1.8p52) + 1023) << 52);
}
}  // namespace series

// 1 unit in the last place; for subnormal results, half the smallest subnormal more.
PENSTOCK_LOOPED double exp(double x) {
  const double v = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;
  const double n = round_even(v * 1.4426950408889634);
  const double r = fma(-n, 5.497923018708371e-14, fma(-n, 0.69314718055989033, v));
  static constexpr double c[] = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
  const double half = round_even(n * 0.5);
  const double y = series::polynomial(r, c) * series::power_of_two(half) * series::power_of_two(n - half);
  return x == x ? y : x;
}

namespace series {
// x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); x positive and finite.
struct Split {
  double e, f;
};
PENSTOCK_LOOPED Split split(double x) {
  const bool tiny = x < 0x1p-1022;
  const uint64_t bits = std::bit_cast<uint64_t>(tiny ? x * 0x1p54 : x);
  const int64_t e = static_cast<int64_t>(bits - 0x3FE6A09E667F3BCDu) >> 52;  // exponent relative to sqrt(1/2)
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(e) << 52));
  const double exponent = std::bit_cast<double>(e + 0x4338000000000000) - 0x1.8p52;
  return {tiny ? exponent - 54 : exponent, m - 1.0};
}
// log(1 + f) as f - minus. Both are so exact that adding e log 2 keeps the last place.
PENSTOCK_LOOPED double log_rest(double f) {
  static constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double s = f / (2.0 + f), z = s * s, h = 0.5 * f * f;
  return h - s * (h + z * polynomial(z, c));
}
PENSTOCK_LOOPED double log_limits(double x, double y) {
  y = x == 0.0 ? -kInfinity : y;
  y = x == kInfinity ? x : y;
  return x >= 0.0 ? y : kNan;
}
}  // namespace series

// 1 unit in the last place.
PENSTOCK_LOOPED double log(double x) {
  const series::Split p = series::split(x);
  const double low = fma(p.e, 5.497923018708371e-14, -series::log_rest(p.f));
  return series::log_limits(x, fma(p.e, 0.69314718055989033, low + p.f));
}
// 3 units in the last place; exact for powers of two.
PENSTOCK_LOOPED double log2(double x) {
  const series::Split p = series::split(x);
  return series::log_limits(x, fma(p.f - series::log_rest(p.f), 1.4426950408889634, p.e));
}
PENSTOCK_LOOPED double log10(double x) { return log(x) * 0.43429448190325182; }  // 2 units
// 2 units.
PENSTOCK_LOOPED double log1p(double x) {
  const double u = 1.0 + x;
  const double y = log(u) - ((u - 1.0) - x) / u;
  return x == kInfinity ? x : u == 1.0 ? x : y;
}

namespace series {
// sin and cos of r plus `turns` quarter turns, |r| <= pi / 4.
PENSTOCK_LOOPED double sin_taylor(double r) {
  static constexpr double c[] = {-1.0 / 6,
                                 1.0 / 120,
                                 -1.0 / 5040,
                                 1.0 / 362880,
                                 -1.0 / 39916800,
                                 1.0 / 6227020800.0,
                                 -1.0 / 1307674368000.0,
                                 1.0 / 355687428096000.0};
  const double z = r * r;
  return fma(r * z, polynomial(z, c), r);
}
PENSTOCK_LOOPED double cos_taylor(double r) {
  static constexpr double c[] = {1.0,
                                 -1.0 / 2,
                                 1.0 / 24,
                                 -1.0 / 720,
                                 1.0 / 40320,
                                 -1.0 / 3628800,
                                 1.0 / 479001600,
                                 -1.0 / 87178291200.0,
                                 1.0 / 20922789888000.0};
  return polynomial(r * r, c);
}
struct Quarter {
  double r;
  int64_t turns;
};
PENSTOCK_LOOPED Quarter quarter(double x) {
  const double n = round_even(x * 0.63661977236758134);
  const double r = fma(-n, -1.4973849048591833e-33, fma(-n, 6.123233995736766e-17, fma(-n, 1.5707963267948966, x)));
  return {r, std::bit_cast<int64_t>(n + 0x1.8p52)};
}
PENSTOCK_LOOPED double sin_quarter(Quarter q) {
  const double v = (q.turns & 1) ? cos_taylor(q.r) : sin_taylor(q.r);
  return (q.turns & 2) ? -v : v;
}
}  // namespace series

// Absolute error 2^-52 for |x| <= 2^30; meaningless above that: see far_angles.h.
PENSTOCK_LOOPED double sin(double x) { return series::sin_quarter(series::quarter(x)); }
PENSTOCK_LOOPED double cos(double x) {
  series::Quarter q = series::quarter(x);
  q.turns += 1;
  return series::sin_quarter(q);
}
PENSTOCK_LOOPED double tan(double x) { return sin(x) / cos(x); }

// 3 units in the last place; atan2, asin, acos: 4.
PENSTOCK_LOOPED double atan(double x) {
  const double a = abs(x);
  const bool large = a > 2.4142135623730951, middle = a > 0.41421356237309503;
  const double t = large ? -1.0 / a : middle ? (a - 1.0) / (a + 1.0) : a;
  const double base = large ? 1.5707963267948966 : middle ? 0.78539816339744828 : 0.0;
  static constexpr double c[] = {-1.0 / 3,  1.0 / 5,   -1.0 / 7,  1.0 / 9,   -1.0 / 11, 1.0 / 13,  -1.0 / 15,
                                 1.0 / 17,  -1.0 / 19, 1.0 / 21,  -1.0 / 23, 1.0 / 25,  -1.0 / 27, 1.0 / 29,
                                 -1.0 / 31, 1.0 / 33,  -1.0 / 35, 1.0 / 37,  -1.0 / 39, 1.0 / 41,  -1.0 / 43};
  const double z = t * t;
  const double y = base + fma(t * z, series::polynomial(z, c), t);
  return copysign(y, x);
}
PENSTOCK_LOOPED double atan2(double y, double x) {
  const double ax = abs(x), ay = abs(y);
  const double ratio = ax == ay ? (ax == 0.0 ? 0.0 : ax == ax ? 1.0 : ax) : ay / ax;
  double v = atan(ratio);
  v = is_negative(x) ? kPi - v : v;
  return copysign(v, y);
}
PENSTOCK_LOOPED double asin(double x) { return atan2(x, sqrt((1.0 - x) * (1.0 + x))); }
PENSTOCK_LOOPED double acos(double x) { return 2.0 * atan2(sqrt(1.0 - x), sqrt(1.0 + x)); }

// 4 units in the last place; their inverses too.
PENSTOCK_LOOPED double sinh(double x) {
  static constexpr double c[] = {1.0 / 6,        1.0 / 120,          1.0 / 5040,           1.0 / 362880,
                                 1.0 / 39916800, 1.0 / 6227020800.0, 1.0 / 1307674368000.0};
  const double a = abs(x), z = x * x, e = exp(0.5 * a);
  const double far = copysign((0.5 * e) * e - 0.5 / e / e, x);
  return a < 0.75 ? fma(x * z, series::polynomial(z, c), x) : far;
}
PENSTOCK_LOOPED double cosh(double x) {
  const double e = exp(0.5 * abs(x));
  return (0.5 * e) * e + 0.5 / e / e;
}
PENSTOCK_LOOPED double tanh(double x) {
  const double a = abs(x) > 20.0 ? 20.0 : abs(x);
  return x == x ? copysign(sinh(a) / cosh(a), x) : x;
}
PENSTOCK_LOOPED double asinh(double x) {
  const double a = abs(x);
  const double near = log1p(a + a * a / (1.0 + sqrt(a * a + 1.0)));
  return copysign(a > 0x1p28 ? log(a) + 0.69314718055994531 : near, x);
}
PENSTOCK_LOOPED double acosh(double x) {
  const double t = x - 1.0;
  return x > 0x1p28 ? log(x) + 0.69314718055994531 : log1p(t + sqrt(t * (t + 2.0)));
}
PENSTOCK_LOOPED double atanh(double x) {
  const double a = abs(x);
  return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

// 1 unit in the last place: Newton's method from an estimate by the exponent.
PENSTOCK_LOOPED double cbrt(double x) {
  const double a = abs(x);
  const bool tiny = a < 0x1p-1000;
  const double v = tiny ? a * 0x1p900 : a > 0x1p1000 ? a * 0x1p-900 : a;
  double y = exp(log(v) * (1.0 / 3));
  y = y - (y * y * y - v) / (3.0 * y * y);
  y = tiny ? y * 0x1p-300 : a > 0x1p1000 ? y * 0x1p300 : y;
  return copysign(a == 0.0 || a == kInfinity ? a : y, x);
}

namespace series {
// log(x) as an unevaluated sum, for exponents that would magnify its error.
struct Pair {
  double high, low;
};
PENSTOCK_LOOPED Pair log_pair(double x) {
  const Split p = split(x);
  const double a = p.e * 0.69314718055989033, sum = a + p.f, part = sum - a;
  const double rest = ((a - (sum - part)) + (p.f - part)) + fma(p.e, 5.497923018708371e-14, -log_rest(p.f));
  const double high = sum + rest;
  return {high, (sum - high) + rest};
}
// x^n by squaring; n has `bits` bits.
template <int bits> PENSTOCK_LOOPED double whole_power(double x, int32_t n) {
  if constexpr (bits == 0) return 1.0;
  else return ((n & 1) ? x : 1.0) * whole_power<bits - 1>(x * x, n >> 1);
}
}  // namespace series

// By exp and a log with extra digits: 16 units in the last place in float64, 0.51 in float32. Integral exponents
// up to 64 by multiplication: at most 64 units. Special values are those of C's pow.
PENSTOCK_LOOPED double pow(double x, double y) {
  const double ay = abs(y);
  const bool whole = floor(y) == y, small = whole & (ay <= 64.0);
  const double product = series::whole_power<7>(x, static_cast<int32_t>(small ? ay : 0.0));
  const bool odd = whole & (ay < 0x1p53) & (floor(ay * 0.5) * 2.0 != ay);
  const double a = abs(x);
  const series::Pair l = series::log_pair((a == 0.0) | (a == kInfinity) ? 1.0 : a);
  const double t = y * l.high, carry = fma(y, l.high, -t) + y * l.low;
  double v = exp(t);
  v = (v > 0.0) & (v < kInfinity) ? fma(v, carry, v) : v;
  v = a == 0.0 ? (y < 0.0 ? kInfinity : 0.0) : a == kInfinity ? (y < 0.0 ? 0.0 : kInfinity) : v;
  v = (a == a) & (y == y) ? v : kNan;
  v = a == 1.0 ? 1.0 : v;
  v = (x < 0.0) & (a != kInfinity) & !whole ? kNan : v;
  v = odd ? copysign(v, x) : v;
  v = small ? (y < 0.0 ? 1.0 / product : product) : v;
  v = x == 1.0 ? 1.0 : v;
  return y == 0.0 ? 1.0 : v;
}

}  // namespace penstock
