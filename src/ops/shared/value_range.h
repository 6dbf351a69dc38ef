// SPDX-License-Identifier: Apache-2.0
// Shared by the operators that replace values of images by others, as torchvision's functions do: the types that they
// take, whose values float32 holds.
#pragma once
#include "operator/operator.h"
#include "ops/shared/intensity.h"

namespace penstock {

constexpr const char* kImageValues =
    "The largest value is that of the type, 1 for floating point. Layouts: any; the output keeps it. Types: uint8, "
    "uint16, float16, bfloat16, float32.";

inline void check_image_values(const ValueType& in) {
  switch (in.dtype) {
    case DType::none:
    case DType::uint8:
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
    case DType::float32: return;
    default: bad_type("expected uint8, uint16, float16, bfloat16 or float32, got {}", name_of(in.dtype));
  }
}

}  // namespace penstock
