// SPDX-License-Identifier: Apache-2.0
// The functions of transcendental.h for float32, without float64, branches and libm: the same bits on every
// processor, and fast on the GPUs that have one float64 unit for 32 or 64 of float32. Results are within 0.9 units in
// the last place of the exact value (exp, log, atanh and subnormal results: 1; asin, acos, tanh: 1.1; sin, cos, log10:
// 1.2; asinh: 1.3; log2, atan: 1.4; tan, acosh, atan2, pow: 1.5), which the tests measure. Where one rounding more
// would show, a number is the unevaluated sum of two (T. J. Dekker, "A floating-point technique for extending the
// available precision", 1971). Reductions are those of transcendental.h; the coefficients of series are fitted to their
// intervals, since a Taylor series needs more terms.
#pragma once
#include <bit>
#include <cstdint>

#include "pixel/math.h"

namespace penstock::single_precision {

constexpr float kInfinity = std::bit_cast<float>(0x7F800000u);
constexpr float kNan = std::bit_cast<float>(0x7FC00000u);

struct Sum {
  float high, low;
};
// a + b, |a| >= |b| or a = 0.
PENSTOCK_LOOPED Sum sorted_sum(float a, float b) {
  const float s = a + b;
  return {s, (a - s) + b};
}
PENSTOCK_LOOPED Sum sum(float a, float b) {
  const float s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <int i = 0, int n> PENSTOCK_LOOPED float polynomial(float x, const float (&c)[n]) {
  if constexpr (i == n - 1) return c[i];
  else return fma(polynomial<i + 1>(x, c), x, c[i]);
}
// The same by pairs of terms, z = x * x: fewer operations wait for one another.
template <int i = 0, int n> PENSTOCK_LOOPED float in_pairs(float x, float z, const float (&c)[n]) {
  static_assert(n % 2 == 0);
  const float pair = fma(x, c[i + 1], c[i]);
  if constexpr (i + 2 == n) return pair;
  else return fma(in_pairs<i + 2>(x, z, c), z, pair);
}
PENSTOCK_LOOPED float with_sign_of(float v, float s) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(v) & 0x7FFFFFFFu) | (std::bit_cast<uint32_t>(s) & 0x80000000u));
}
// The whole number, |n| < 2^22, in the low bits of n + 0x1.8p23: the sum rounds as round_even, by fewer instructions.
PENSTOCK_LOOPED int32_t whole_of(float sum) { return static_cast<int32_t>(std::bit_cast<uint32_t>(sum) - 0x4B400000u); }
PENSTOCK_LOOPED float power_of_two(int32_t n) {  // n in [-126, 127]
  return std::bit_cast<float>((static_cast<uint32_t>(n) + 127u) << 23);
}

// e^(x.high + x.low) = (high + low) 2^n, for |x.high| < 120.
struct Scaled {
  Sum value;
  int32_t n;
};
PENSTOCK_LOOPED Scaled exp_scaled(Sum x) {
  static constexpr float c[] = {0.5f, 0.166666687f, 0.0416664518f, 0.0083328709f, 0.00139360968f, 2.0125178e-4f};
  const float sum = x.high * 1.44269504f + 0x1.8p23f, n = sum - 0x1.8p23f;
  // The first difference is exact: it has multiples of 2^-24. Where it is below the second, both are tiny.
  const Sum r = sorted_sum(fma(-n, 0.693147182f, x.high), fma(n, 1.90465432e-9f, x.low)), t = sorted_sum(1.0f, r.high);
  return {{t.high, t.low + fma(r.high * r.high, polynomial(r.high, c), fma(r.high, r.low, r.low))}, whole_of(sum)};
}
PENSTOCK_LOOPED float scaled(float v, int32_t n) {
  const int32_t half = n >> 1;
  return v * power_of_two(half) * power_of_two(n - half);
}
// Operands out of range go through the formula; a select of x before it would be one more path through all of it.
PENSTOCK_LOOPED float exp(float x) {
  const Scaled e = exp_scaled({x, 0.0f});
  float y = scaled(e.value.high + e.value.low, e.n);
  y = x < 89.0f ? y : kInfinity;
  y = x > -104.0f ? y : 0.0f;
  return x == x ? y : x;
}

// log(x) of a positive and finite x within 0.9 units, for mu_law_encode.
PENSTOCK_LOOPED float log_of_positive(float x) {
  static constexpr float c[] = {0.333333313f, -0.250008196f, 0.200012431f, -0.166234106f,
                                0.142015398f, -0.131595507f, 0.127624854f, -0.0763694048f};
  const bool tiny = x < 0x1p-126f;
  const uint32_t bits = std::bit_cast<uint32_t>(tiny ? x * 0x1p24f : x);
  const int32_t e = static_cast<int32_t>(bits - 0x3F3504F3u) >> 23;  // sqrt(1/2) <= 1 + f < sqrt(2)
  const float f = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23)) - 1.0f;
  const float n = static_cast<float>(tiny ? e - 24 : e), half = 0.5f * f, h = half * f;
  const Sum t = sorted_sum(f, -h), s = sorted_sum(n * 0.693359375f, t.high);  // the product is exact
  const float low = t.low + fma(f * f * f, polynomial(f, c), -fma(half, f, -h));
  return s.high + (s.low + fma(n, -2.12194440e-4f, low));
}
// x = 2^n (1 + f), 2/3 <= 1 + f < 4/3, and 2^-n; x positive, normal and finite.
struct EvenSplit {
  float n, f, scale;
};
PENSTOCK_LOOPED EvenSplit split_even(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int32_t n = static_cast<int32_t>(bits - 0x3F2AAAABu) >> 23;
  const uint32_t shift = static_cast<uint32_t>(n) << 23;
  return {static_cast<float>(n), std::bit_cast<float>(bits - shift) - 1.0f, std::bit_cast<float>(0x3F800000u - shift)};
}
// Whether a logarithm has no special case: x is positive, normal and finite.
PENSTOCK_LOOPED bool is_plain(float x) { return std::bit_cast<uint32_t>(x) - 0x00800000u < 0x7F000000u; }
// The logarithm to a base: a natural one times `base`, `unit` for a factor of two. c is the series of log(1 + f) - f.
struct LogBase {
  Sum base, unit;
  float c[9];
};
PENSTOCK_LOOPED float log_by(const LogBase& b, float x, float more) {
  const EvenSplit p = split_even(x);
  const float n = more != 0.0f ? p.n + more : p.n, slope = polynomial(p.f, b.c);
  const float low = p.f * (b.base.low != 0.0f ? fma(p.f, slope, b.base.low) : p.f * slope);
  const float rest = b.unit.low != 0.0f ? fma(n, b.unit.low, low) : low;
  return fma(n, b.unit.high, fma(p.f, b.base.high, rest));
}
PENSTOCK_LOOPED float log_plain(const LogBase& b, float x) { return log_by(b, x, 0.0f); }
PENSTOCK_LOOPED float log_any(const LogBase& b, float x) {
  const bool tiny = x < 0x1p-126f;
  float y = log_by(b, tiny ? x * 0x1p24f : x, tiny ? -24.0f : 0.0f);
  y = x == 0.0f ? -kInfinity : y;
  y = x == kInfinity ? x : y;
  return x >= 0.0f ? y : kNan;
}
PENSTOCK_LOOPED LogBase natural() {
  return {{1.0f, 0.0f},
          {0.693147182f, -1.90465432e-9f},
          {-0.5f, 0.333332241f, -0.249996886f, 0.200100332f, -0.166854724f, 0.140110761f, -0.121150456f, 0.139617458f,
           -0.131919831f}};
}
PENSTOCK_LOOPED LogBase of_two() {
  return {{1.44269502f, 1.92596303e-8f},
          {1.0f, 0.0f},
          {-0.72134757f, 0.480896622f, -0.360666037f, 0.288690567f, -0.240790918f, 0.202042237f, -0.174148262f,
           0.201838151f, -0.192356125f}};
}
PENSTOCK_LOOPED LogBase of_ten() {
  return {{0.434294492f, -1.01007656e-8f},
          {0.301030010f, -1.43209888e-8f},
          {-0.217147246f, 0.144764319f, -0.108571962f, 0.0869039446f, -0.072470583f, 0.0608293712f, -0.0525571443f,
           0.0607202649f, -0.057476487f}};
}
PENSTOCK_LOOPED float log(float x) { return log_any(natural(), x); }
PENSTOCK_LOOPED float log2(float x) { return log_any(of_two(), x); }
PENSTOCK_LOOPED float log10(float x) { return log_any(of_ten(), x); }

// x = r.high + r.low + turns pi / 2.
struct Quarter {
  Sum r;
  int32_t turns;
};
PENSTOCK_LOOPED Quarter quarter(float x) {
  const float count = x * 0.636619747f + 0x1.8p23f, n = count - 0x1.8p23f;
  const float a = fma(-n, 1.57079637f, x), p = n * -4.37113883e-8f, q = fma(n, -4.37113883e-8f, -p);
  const Sum r = sum(a, -p);
  return {{r.high, r.low - fma(n, -1.71512489e-15f, q)}, whole_of(count)};
}
PENSTOCK_LOOPED float sin_series(Sum r) {
  static constexpr float c[] = {-0.166666672f, 0.00833337288f, -1.98502923e-4f, 2.80430027e-6f};
  const float z = r.high * r.high;
  return r.high + fma(r.high * z, polynomial(z, c), r.low);
}
PENSTOCK_LOOPED float cos_series(Sum r) {
  static constexpr float c[] = {-0.5f, 0.0416666679f, -0.00138889754f, 2.48201814e-5f, -2.87032378e-7f};
  const float z = r.high * r.high;
  return 1.0f + fma(z, polynomial(z, c), -r.high * r.low);
}
PENSTOCK_LOOPED float sin_quarter(Quarter q) {
  const float s = sin_series(q.r), c = cos_series(q.r), v = (q.turns & 1) ? c : s;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(v) ^ (static_cast<uint32_t>(q.turns & 2) << 30));
}
PENSTOCK_LOOPED float tan_quarter(Quarter q) {
  static constexpr float c[] = {0.333333522f,  0.13332583f,      0.0540686511f, 0.0212386101f,
                                0.0109455436f, -4.61866148e-05f, 0.00444182893f};
  const float r = q.r.high, z = r * r, rest = fma(r * z, polynomial(z, c), fma(z, q.r.low, q.r.low));
  const float t = r + rest, low = (r - t) + rest, inverse = -1.0f / t;
  const float turned = fma(inverse * inverse, low, inverse);
  return q.turns & 1 ? turned : t;
}
PENSTOCK_LOOPED Quarter turned(Quarter q) { return {q.r, q.turns + 1}; }
// For |x| <= 2^17; far_angles.h has the others.
PENSTOCK_LOOPED float sin(float x) { return x == 0.0f ? x : sin_quarter(quarter(x)); }
PENSTOCK_LOOPED float cos(float x) { return sin_quarter(turned(quarter(x))); }
PENSTOCK_LOOPED float tan(float x) { return x == 0.0f ? x : tan_quarter(quarter(x)); }

// base + turn atan(n / d) for 0 <= n <= d, 0 < d < infinity; turn is 1 or -1, base a multiple of pi / 2.
PENSTOCK_LOOPED float atan_from(float n, float d, Sum base, float turn) {
  static constexpr float c[] = {-0.333333284f, 0.199995548f,   -0.142731071f,
                                0.109484106f,  -0.0800907612f, 0.0390421525f};
  const bool middle = n > 0.5f * d;  // then the difference is exact
  const Sum eighth = middle ? Sum{0.785398185f, -2.18556941e-8f} : Sum{0.0f, 0.0f};
  const float q = (middle ? n - d : n) / (middle ? n + d : d), z = q * q;
  const Sum whole = sorted_sum(base.high, turn * eighth.high), s = sorted_sum(whole.high, turn * q);
  return s.high + (s.low + fma(turn, q * z * polynomial(z, c), whole.low + fma(turn, eighth.low, base.low)));
}
PENSTOCK_LOOPED float atan(float x) {
  const float a = abs(x), most = a < 0x1p60f ? a : 0x1p60f;
  const bool steep = a > 1.0f;
  const Sum base = steep ? Sum{1.57079637f, -4.37113883e-8f} : Sum{0.0f, 0.0f};
  const float v = atan_from(steep ? 1.0f : a, steep ? most : 1.0f, base, steep ? -1.0f : 1.0f);
  return x == x ? with_sign_of(v, x) : x;
}
PENSTOCK_LOOPED float atan2(float y, float x) {
  const float ax = abs(x), ay = abs(y);
  const bool steep = ay > ax, left = std::bit_cast<int32_t>(x) < 0;
  const float turn = steep != left ? -1.0f : 1.0f, most = steep ? ay : ax, least = steep ? ax : ay;
  float base = left ? 3.14159274f : 0.0f, base_low = left ? -8.74227766e-8f : 0.0f;
  base = steep ? 1.57079637f : base;
  base_low = steep ? -4.37113883e-8f : base_low;
  // Both are scaled, so that no part of the quotient is subnormal and no sum overflows. Of infinities only that counts.
  const float scale = most > 0x1p60f ? 0x1p-30f : 0x1p60f;
  float n = least * scale, d = most * scale;
  n = most == kInfinity ? 0.0f : n;
  d = (most == kInfinity) | (most == 0.0f) ? 1.0f : d;
  n = (least == most) & (most > 0.0f) ? d : n;
  const float v = atan_from(n, d, {base, base_low}, turn);
  return (ax == ax) & (ay == ay) ? with_sign_of(v, y) : ax + ay;
}

// base + scale asin(r), |r| <= 0.5 (a little more), z = r * r. What depends on the case is chosen before: a choice
// after it would make two paths through the series.
PENSTOCK_LOOPED float asin_from(float r, float z, Sum base, float scale) {
  static constexpr float c[] = {0.166666597f,  0.0750051886f, 0.0445143245f,
                                0.0318287462f, 0.0143614439f, 0.0376224555f};
  const float first = scale * r;
  const Sum s = sorted_sum(base.high, first);
  return s.high + fma(first * z, polynomial(z, c), s.low + base.low);
}
PENSTOCK_LOOPED float asin(float x) {
  const float a = abs(x);
  const bool far = a > 0.5f;  // pi / 2 - 2 asin(sqrt((1 - a) / 2))
  const float z = far ? fma(-0.5f, a, 0.5f) : a * a, r = far ? sqrt(z) : a;
  const Sum base = far ? Sum{1.57079637f, -4.37113883e-8f} : Sum{0.0f, 0.0f};
  return with_sign_of(asin_from(r, z, base, far ? -2.0f : 1.0f), x);
}
PENSTOCK_LOOPED float acos(float x) {
  const float a = abs(x);
  const bool far = a > 0.5f, left = x < -0.5f;
  const float z = far ? fma(-0.5f, a, 0.5f) : a * a, r = far ? sqrt(z) : x;
  float base = far ? 0.0f : 1.57079637f, base_low = far ? 0.0f : -4.37113883e-8f, scale = far ? 2.0f : -1.0f;
  base = left ? 3.14159274f : base, base_low = left ? -8.74227766e-8f : base_low, scale = left ? -2.0f : scale;
  return asin_from(r, z, {base, base_low}, scale);
}

// e^x = power (one + rest), one within 2^-24 of e^r; for |x| < 120.
struct Parts {
  float one, rest;
  int32_t shift;  // n in the bits of an exponent
};
PENSTOCK_LOOPED Parts exp_parts(float x) {
  static constexpr float c[] = {0.49999994f, 0.166665196f, 0.0416682772f, 0.00836887397f, 0.00138201856f};
  const float whole = fma(x, 1.44269504f, 0x1.8p23f), n = whole - 0x1.8p23f;
  const float r = fma(n, 1.90465432e-9f, fma(n, -0.693147182f, x)), one = 1.0f + r;
  const uint32_t shift = std::bit_cast<uint32_t>(whole) << 23;
  return {one, fma(r * r, polynomial(r, c), (1.0f - one) + r), static_cast<int32_t>(shift)};
}
PENSTOCK_LOOPED float shifted(float v, int32_t shift) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(v) + static_cast<uint32_t>(shift));
}
// (e^a + sign / e^a) / 2 for 0 <= a < 90.
PENSTOCK_LOOPED float half_of_both(float a, float sign) {
  const Parts e = exp_parts(a < 90.0f ? a : 90.0f);
  // A power of two apart: 2^129 is not a float.
  const float power = shifted(0x1p-5f, e.shift);
  const float inverse = sign * 0x1p-10f / ((e.one + e.rest) * power);
  return fma(e.one, power, fma(e.rest, power, inverse)) * 0x1p4f;
}
PENSTOCK_LOOPED float sinh(float x) {
  static constexpr float c[] = {0.166666672f, 0.00833331142f, 1.98426351e-4f, 2.78392577e-6f};
  const float a = abs(x), z = x * x;
  const float far = with_sign_of(half_of_both(a, -1.0f), x);
  const float y = a > 1.0f ? far : fma(x * z, polynomial(z, c), x);
  return x == x ? y : x;
}
PENSTOCK_LOOPED float cosh(float x) {
  const float y = half_of_both(abs(x), 1.0f);
  return x == x ? y : x;
}
PENSTOCK_LOOPED float tanh(float x) {
  static constexpr float c[] = {-0.333332986f, 0.133322433f,    -0.053853631f,
                                0.0213061627f, -0.00741281547f, 0.00158582686f};
  const float a = abs(x), z = x * x;
  // 1 - 2 / (e^2a + 1)
  const Parts e = exp_parts(a < 10.0f ? 2.0f * a : 20.0f);
  const float v = e.one + e.rest, far = 1.0f - 2.0f / (shifted(v, e.shift) + 1.0f);
  const float y = with_sign_of(a > 0.8f ? far : fma(a * z, polynomial(z, c), a), x);
  return x == x ? y : x;
}
// log(4 (x + low)) for positive, normal and finite x, low small beside x.
PENSTOCK_LOOPED float log_of_four_times(float x, float low) {
  static constexpr float c[] = {-0.5f,        0.333332241f,  -0.249996886f, 0.200100332f, -0.166854724f,
                                0.140110761f, -0.121150456f, 0.139617458f,  -0.131919831f};
  const EvenSplit p = split_even(x);
  const Sum s = sorted_sum((p.n + 2.0f) * 0.693359375f, p.f);
  const float rest = low * p.scale, more = fma(p.n + 2.0f, -2.12194440e-4f, fma(-rest, p.f, rest));
  return s.high + (s.low + fma(p.f * p.f, polynomial(p.f, c), more));
}
PENSTOCK_LOOPED float asinh(float x) {
  static constexpr float c[] = {-0.166666195f, 0.0749806091f,  -0.0443743654f,
                                0.0286278855f, -0.0162475817f, 0.00531826634f};
  const float a = abs(x), part = 0.25f * a, z = x * x, root = sqrt(fma(part, part, 0.0625f));
  const Sum s = sorted_sum(a < 0x1p60f ? root : part, part);
  const float near = fma(a * z, polynomial(z, c), a), far = log_of_four_times(s.high, s.low);
  const float y = with_sign_of(a > 0.7071f ? far : near, x);
  return a < kInfinity ? y : x;
}
PENSTOCK_LOOPED float acosh(float x) {
  static constexpr float c[] = {-0.0833332166f, 0.0187465958f, -0.00554780057f, 0.00175981142f, -4.12944704e-4f};
  const bool is_near = x < 1.5f;
  const float t = x - 1.0f, part = 0.25f * x, root = sqrt(is_near ? t + t : fma(part, part, -0.0625f));
  const Sum s = sorted_sum(part, x < 0x1p60f ? root : part);
  const float near = fma(root * t, polynomial(t, c), root), far = log_of_four_times(s.high, s.low);
  float y = is_near ? near : far;
  y = x < kInfinity ? y : x;
  return x >= 1.0f ? y : kNan;
}
PENSTOCK_LOOPED float atanh(float x) {
  static constexpr float c[] = {0.333332986f, 0.20002605f, 0.142211452f, 0.118368469f, 0.0508765019f, 0.177348077f};
  const float a = abs(x), d = 1.0f - a;
  const bool near = a < 0.5f;  // else d is exact
  // log((1 + a) / d) / 2 = n log(2) / 2 + atanh(s)
  const uint32_t ratio = std::bit_cast<uint32_t>(1.0f + a) - std::bit_cast<uint32_t>(d);
  const int32_t n = static_cast<int32_t>(ratio + 0x400000u) >> 23;
  const float power = power_of_two(n), count = near ? 0.0f : static_cast<float>(n);
  const float s = near ? a : fma(-1.0f - power, d, 2.0f) / fma(power - 1.0f, d, 2.0f), z = s * s;
  const float rest = fma(s * z, polynomial(z, c), count * 1.59730925e-5f);
  float y = fma(count, 0.346557617f, s + rest);
  y = a < 1.0f ? y : kInfinity;
  y = with_sign_of(y, x);
  return a <= 1.0f ? y : kNan;
}

PENSTOCK_LOOPED float cbrt(float x) {
  const float a = abs(x);
  const bool small = a < 1.0f;
  const float v = a * (small ? 0x1p48f : 0x1p-48f);
  // v^(-1/3): minus a third of the exponent, then a step of third order from an error of 5 percent.
  const int32_t third = static_cast<int32_t>(static_cast<float>(std::bit_cast<int32_t>(v)) * -0.333333343f);
  float r = std::bit_cast<float>(third + 0x54A21D2A);
  const float h = fma(-v * r, r * r, 1.0f);
  r = fma(r * h, fma(h, 0.222222224f, 0.333333343f), r);
  // The root from an error of 4e-4, by what its cube lacks of v, beside r^3.
  const float square = r * r, near = v * square, rest = fma(near * near, -near, v) * (square * r);
  const float y = fma(near * rest, fma(rest, 0.388888896f, 0.333333343f), near) * (small ? 0x1p-16f : 0x1p16f);
  return a > 0.0f && a < kInfinity ? with_sign_of(y, x) : x;
}

// log(2^more x) within 2^-30 of the value for positive, normal and finite x, else any number. x is 2^e m, and m times
// one of three numbers of few bits is 1 + r, exactly; r is at most 0.135, so only its square needs a second float.
PENSTOCK_LOOPED Sum log_sum(float x, int32_t more) {
  static constexpr float c[] = {0.333333403f, -0.250000477f, 0.199970841f, -0.16655387f, 0.146187291f, -0.132177979f};
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const int32_t e = static_cast<int32_t>(bits - 0x3F313A93u) >> 23;  // 0.6923 <= m < 1.3846
  const float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23)), n = static_cast<float>(e + more);
  const bool small = m < 0.8875f, large = m > 1.105f;
  float factor = large ? 0.8125f : 1.0f, high = large ? 0.207641602f : 0.0f, low = large ? -2.23678421e-6f : 0.0f;
  factor = small ? 1.25f : factor, high = small ? -0.223144531f : high, low = small ? 9.79935749e-7f : low;
  const float r = fma(m, factor, -1.0f), half = -0.5f * r, square = r * r;
  const Sum a = sorted_sum(fma(n, 0.693359375f, high), r);  // the product and its sum are exact
  const float b = fma(half, r, a.high), rest = fma(n, -2.12194440e-4f, low) + (a.low + fma(half, r, a.high - b));
  return sorted_sum(b, fma(r * square, in_pairs(r, square, c), rest));
}
// e^(t + low) = value 2^n, low below a unit of t. `whole` is 0x1.8p23, and more where n is to be as much larger.
struct ScaledPower {
  float value;
  int32_t shift;  // n in the bits of an exponent
};
PENSTOCK_LOOPED ScaledPower scaled_power(float t, float low, float whole) {
  static constexpr float c[] = {1.0f, 1.0f, 0.5f, 0.166664765f, 0.041666314f, 0.00837371778f, 0.0013948594f};
  const float count = fma(t, 1.44269504f, whole), n = count - whole;
  const float r = fma(-n, 0.693147182f, t) + fma(n, 1.90465432e-9f, low);
  return {polynomial(r, c), static_cast<int32_t>(std::bit_cast<uint32_t>(count) << 23)};
}
// e^(t + low) for any t.
PENSTOCK_LOOPED float exp_of_sum(float t, float low) {
  // A power of two apart, by the sign: then the rest of the exponent is one of a normal float.
  const bool negative = t < 0.0f;
  const float whole = negative ? 0x1.8p23f + 64.0f : 0x1.8p23f - 64.0f, apart = negative ? 0x1p-64f : 0x1p64f;
  const ScaledPower p = scaled_power(t, low, whole);
  float y = shifted(p.value, p.shift) * apart;
  y = t < 89.0f ? y : kInfinity;
  return t > -104.0f ? y : 0.0f;
}
// y log(x) as two floats.
PENSTOCK_LOOPED Sum exponent_of(Sum l, float y) {
  const float t = y * l.high;
  return {t, fma(y, l.low, fma(y, l.high, -t))};
}
// Whether pow has no special case: x is positive, normal and finite, the result normal and below 2^122. The bits of x
// are its logarithm within a factor of 1.45.
PENSTOCK_LOOPED bool is_plain_power(float x, float y) {
  const float steps = static_cast<float>(static_cast<int32_t>(std::bit_cast<uint32_t>(x) - 0x3F800000u));
  return is_plain(x) & (abs(steps * y) < 0x1.5p29f);
}
PENSTOCK_LOOPED float pow_plain(float x, float y) {
  const Sum t = exponent_of(log_sum(x, 0), y);
  const ScaledPower p = scaled_power(t.high, t.low, 0x1.8p23f);
  const float r = shifted(p.value, p.shift);
  return y == 2.0f ? x * x : r;
}
// Special values are those of C's pow.
PENSTOCK_LOOPED float pow(float x, float y) {
  const float a = abs(x);
  // Bits, not conditions: a condition with && is a branch.
  const bool is_whole = floor(y) == y, odd = is_whole & (floor(y * 0.5f) * 2.0f != y), tiny = a < 0x1p-126f;
  const Sum t = exponent_of(log_sum(a * (tiny ? 0x1p24f : 1.0f), tiny ? -24 : 0), y);
  float r = exp_of_sum(t.high, t.low);
  r = (a == 0.0f) | (a == kInfinity) | (abs(y) == kInfinity) ? ((a > 1.0f) == (y > 0.0f) ? kInfinity : 0.0f) : r;
  r = a == 1.0f ? 1.0f : r;
  r = ((a != a) | (y != y) | ((x < 0.0f) & (a != kInfinity) & !is_whole)) ? kNan : r;
  r = odd ? with_sign_of(r, x) : r;
  r = y == 2.0f ? x * x : r;
  r = y == 1.0f ? x : r;
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : r;
}
}  // namespace penstock::single_precision

namespace penstock {
using single_precision::acos, single_precision::acosh, single_precision::asin, single_precision::asinh,
    single_precision::atan, single_precision::atan2, single_precision::atanh, single_precision::cbrt,
    single_precision::cos, single_precision::cosh, single_precision::exp, single_precision::log,
    single_precision::log10, single_precision::log2, single_precision::pow, single_precision::sin,
    single_precision::sinh, single_precision::tan, single_precision::tanh;
}  // namespace penstock
