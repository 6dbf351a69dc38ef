// SPDX-License-Identifier: Apache-2.0
// Shared by the operators that reduce samples of sound to few bits.
#pragma once
#include "operator/operator.h"

namespace penstock {

inline void check_law(const std::string& law) {
  if (law != "mu" && law != "a") bad_argument("law must be \"mu\" or \"a\", got \"{}\"", law);
}
inline DType check_sound(const ValueType& type) {
  if (type.dtype != DType::none && type.dtype != DType::int16 && type.dtype != DType::float32)
    bad_type("expected int16 or float32, got {}", name_of(type.dtype));
  return type.dtype;
}
inline void check_codes(const ValueType& type) {
  if (type.dtype != DType::none && type.dtype != DType::uint8)
    bad_type("expected codes of uint8, got {}", name_of(type.dtype));
}

}  // namespace penstock
