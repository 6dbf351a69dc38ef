// SPDX-License-Identifier: Apache-2.0
// Gamma distributed numbers by rejection (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000),
// as logarithms, for shapes far below 1 give numbers that float64 does not hold. An attempt has no branches and takes
// two blocks of random bits.
#pragma once
#include <cstdint>

#include "pixel/transcendental.h"

namespace penstock {

// The blocks of an element begin here: it takes far fewer than 2^24.
PENSTOCK_HD constexpr uint64_t first_gamma_block(int64_t element) { return static_cast<uint64_t>(element) << 24; }

// What the shape parameter gives, the same for all numbers.
struct GammaShape {
  double shape, d, c, log_d;
  int64_t small;  // the number is made for shape + 1, and one more uniform number takes it to the shape
};
PENSTOCK_HD inline GammaShape gamma_shape(double shape) {
  const bool small = shape < 1;
  const double d = (small ? shape + 1 : shape) - 1.0 / 3;
  return {shape, d, 1 / (3 * sqrt(d)), log(d), small};
}

namespace series {
PENSTOCK_LOOPED double whole(uint32_t v) { return std::bit_cast<double>(v | uint64_t{0x433} << 52) - 0x1p52; }
// 1 - uniform01_wide(high << 32 | low), in (0, 1]: processors have no conversion of 64-bit integers in vectors.
PENSTOCK_LOOPED double above_zero(uint32_t low, uint32_t high) {
  return 1.0 - (whole(high) * 0x1p21 + whole(low >> 11)) * 0x1p-53;
}
}  // namespace series

// The words of two blocks that an attempt reads; the last two count where the shape is small.
struct GammaWords {
  uint32_t normal[4], other[4];
};
// NaN: the attempt has failed.
template <bool small> PENSTOCK_LOOPED double gamma_attempt(const GammaShape& s, const GammaWords& w) {
  const double radius = sqrt(-2 * log(series::above_zero(w.normal[0], w.normal[1])));
  const double x = radius * cos(2 * kPi * series::above_zero(w.normal[2], w.normal[3]));
  const double root = 1 + s.c * x, v = root * root * root, log_v = log(v);
  const double most = 0.5 * x * x + s.d - s.d * v + s.d * log_v;
  const bool taken = (root > 0) & (log(series::above_zero(w.other[0], w.other[1])) < most);
  double found = s.log_d + log_v;
  if constexpr (small) found += log(series::above_zero(w.other[2], w.other[3])) / s.shape;
  else found += 0.0;
  return taken ? found : kNan;
}
// The quotient a / (a + b) of two gamma distributed numbers, by their logarithms: it has the beta distribution.
PENSTOCK_LOOPED double beta_of(double log_a, double log_b) { return 1.0 / (1.0 + exp(log_b - log_a)); }

}  // namespace penstock
