// SPDX-License-Identifier: Apache-2.0
// Number types that suit an operator on intensities.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// float64 if a type that takes part has values that float32 cannot hold, else float32.
inline Lane intensity_lane(std::span<const DType> in, DType out) {
  auto wide = [](DType t) { return size_of(t) > 2 && t != DType::float32; };
  for (DType t : in)
    if (wide(t)) return Lane::f64;
  return wide(out) ? Lane::f64 : Lane::f32;
}

}  // namespace penstock
