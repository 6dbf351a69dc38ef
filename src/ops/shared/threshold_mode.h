// SPDX-License-Identifier: Apache-2.0
// What threshold and adaptive_threshold make of values on both sides.
#pragma once
#include "operator/operator.h"

namespace penstock {

// The number of the mode: binary, binary_inv, trunc, tozero, tozero_inv; of `count` that the operator has.
inline int threshold_mode(const std::string& name, int count = 5) {
  constexpr const char* kNames[] = {"binary", "binary_inv", "trunc", "tozero", "tozero_inv"};
  std::string known;
  for (int i = 0; i < count; ++i) {
    if (name == kNames[i]) return i;
    known += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == count ? " or " : ", ", kNames[i]);
  }
  bad_argument("mode must be {}, got \"{}\"", known, name);
}

}  // namespace penstock
