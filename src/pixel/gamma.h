// SPDX-License-Identifier: Apache-2.0
// Gamma distributed numbers by rejection (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000),
// two at a time for a beta distributed one: a pair of normal numbers gives both. An attempt has no branches and takes
// two or three blocks of random bits.
#pragma once
#include <cstdint>

#include "pixel/transcendental.h"

namespace penstock {

// The blocks of an element begin here: it takes far fewer than 2^24.
PENSTOCK_HD constexpr uint64_t first_gamma_block(int64_t element) { return static_cast<uint64_t>(element) << 24; }

// What the shape parameter gives, the same for all numbers.
struct GammaShape {
  double shape, d, c, log_d;
  double boost;   // the number is made for shape + 1 where the shape is small; one more uniform number to this power
  int64_t small;  // takes it to the shape
};
PENSTOCK_HD inline GammaShape gamma_shape(double shape) {
  const bool small = shape < 1;
  const double d = (small ? shape + 1 : shape) - 1.0 / 3;
  return {shape, d, 1 / (3 * sqrt(d)), log(d), small ? 1 / shape : 0.0, small};
}

namespace series {
PENSTOCK_LOOPED double whole(uint32_t v) { return std::bit_cast<double>(v | uint64_t{0x433} << 52) - 0x1p52; }
// 1 - uniform01_wide(high << 32 | low), in (0, 1]: processors have no conversion of 64-bit integers in vectors.
PENSTOCK_LOOPED double above_zero(uint32_t low, uint32_t high) {
  return 1.0 - (whole(high) * 0x1p21 + whole(low >> 11)) * 0x1p-53;
}
}  // namespace series

// Two independent normal numbers (Box and Muller, "A note on the generation of random normal deviates", 1958).
struct NormalPair {
  double first, second;
};
PENSTOCK_LOOPED NormalPair normal_pair(const uint32_t (&w)[4]) {
  const double u = series::above_zero(w[0], w[1]), quarters = 4 * series::above_zero(w[2], w[3]);
  // log(u) without its special cases: u is at least 2^-53.
  const series::Split p = series::split(u);
  const double log_u = fma(p.e, 0.69314718055994531, p.f - series::log_rest(p.f));
  const double radius = sqrt(-2 * log_u), n = round_even(quarters);
  const series::Quarter q{(quarters - n) * (kPi / 2), std::bit_cast<int64_t>(n + 0x1.8p52)};
  return {radius * series::sin_quarter({q.r, q.turns + 1}), radius * series::sin_quarter(q)};
}

// One of the two gamma distributed numbers of an attempt, divided by d. NaN: not taken. `quick` takes nine of ten:
// those that need no logarithm ("squeeze").
template <bool quick> PENSTOCK_LOOPED double gamma_try(const GammaShape& s, double x, double u) {
  const double root = 1 + s.c * x, v = root * root * root, square = x * x;
  const bool inside = (root > 0) & (1 - u > 0.0331 * (square * square));
  if constexpr (quick) {
    return inside ? v : kNan;
  } else {
    const bool below = (root > 0) & (log(u) < 0.5 * square + s.d * (1 - v + log(v)));
    return inside | below ? v : kNan;
  }
}

// The blocks of random bits that an attempt reads; the last where a shape is small.
struct BetaWords {
  uint32_t normal[4], test[4], boost[4];
};
PENSTOCK_HD constexpr uint64_t beta_blocks(bool small) { return small ? 3 : 2; }
struct BetaShapes {
  GammaShape alpha, beta;
  PENSTOCK_HD bool small() const { return (alpha.small | beta.small) != 0; }
};
// A beta distributed number: the quotient a / (a + b) of two gamma distributed ones. NaN where one of the two is: then
// both are made anew, from the next blocks.
template <bool small, bool quick>
PENSTOCK_LOOPED double beta_attempt(const BetaShapes& s, const BetaWords& w) {
  const NormalPair x = normal_pair(w.normal);
  const double a = gamma_try<quick>(s.alpha, x.first, series::above_zero(w.test[0], w.test[1]));
  const double b = gamma_try<quick>(s.beta, x.second, series::above_zero(w.test[2], w.test[3]));
  if constexpr (small) {
    // By logarithms: shapes far below 1 give numbers that float64 does not hold.
    const double log_a = s.alpha.log_d + log(a) + s.alpha.boost * log(series::above_zero(w.boost[0], w.boost[1]));
    const double log_b = s.beta.log_d + log(b) + s.beta.boost * log(series::above_zero(w.boost[2], w.boost[3]));
    return 1.0 / (1.0 + exp(log_b - log_a));
  } else {
    const double number = s.alpha.d * a;
    return number / (number + s.beta.d * b);
  }
}

}  // namespace penstock
