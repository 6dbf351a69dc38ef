// SPDX-License-Identifier: Apache-2.0
// How the texts of kernels spell types.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// The type of a lane's registers.
inline const char* number(Lane l) {
  constexpr const char* kNames[kLanes] = {"float", "double", "int32_t", "int64_t", "uint64_t"};
  return kNames[static_cast<int>(l)];
}
// The type of an element in memory.
inline const char* element(DType t) {
  constexpr const char* kNames[kTypes] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t",
                                          "int16_t", "int32_t",  "int64_t",  "Half",     "float",
                                          "double",  "bool",     "",         "BFloat16"};
  return t == DType::none ? "float" : kNames[static_cast<int>(t)];
}

}  // namespace penstock
