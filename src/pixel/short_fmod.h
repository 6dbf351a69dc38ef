// SPDX-License-Identifier: Apache-2.0
// fmod of float32 as a formula that becomes vectors, for quotients below 2^28: quotient, product and rest are then
// exact in float64.
#pragma once
#include "pixel/math.h"

namespace penstock {

PENSTOCK_LOOPED bool has_short_quotient(float a, float b) {
  return (abs(a) < abs(b) * 0x1p28f) & (abs(b) <= 0x1.fffffep127f);
}
// The division may round up to the next whole number; the rest is then negative and one divisor short.
PENSTOCK_LOOPED float short_fmod(float a, float b) {
  const double top = abs(a), divisor = abs(b), rest = top - static_cast<int32_t>(top / divisor) * divisor;
  return __builtin_copysignf(static_cast<float>(rest < 0 ? rest + divisor : rest), a);
}

}  // namespace penstock
