// SPDX-License-Identifier: Apache-2.0
// What "the range of a type" means for operators on intensities.
#pragma once
#include "base/dtype.h"

namespace penstock {

// The largest value of an integer type, 1 for floating point.
inline double full_range(DType t) {
  if (is_float(t) || t == DType::bool_ || t == DType::none) return 1.0;
  const int bits = static_cast<int>(size_of(t)) * 8 - (is_unsigned(t) ? 0 : 1);
  return __builtin_ldexp(1.0, bits) - 1;
}
// The middle of the range: 2^(bits-1) for unsigned types, 2^(bits-2) for signed ones, 0.5 for floating point.
inline float half_range(DType t) {
  if (is_float(t) || t == DType::bool_ || t == DType::none) return 0.5f;
  const int bits = static_cast<int>(size_of(t)) * 8 - (is_unsigned(t) ? 1 : 2);
  return static_cast<float>(__builtin_ldexp(1.0, bits));
}

}  // namespace penstock
