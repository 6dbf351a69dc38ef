// SPDX-License-Identifier: Apache-2.0
// The checks that cat and stack share.
#pragma once
#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

constexpr int kMaxJoined = 999;

// One dtype, rank and layout for all inputs; throws if they differ. What is unknown of one input is taken from another.
inline ValueType joined_type(std::span<const ValueType> in) {
  ValueType t = in[0];
  for (size_t k = 1; k < in.size(); ++k) {
    if (t.dtype == DType::none) t.dtype = in[k].dtype;
    else if (in[k].dtype != DType::none && in[k].dtype != t.dtype)
      bad_type("all inputs must have the same dtype, got {} and {} (input {})", name_of(t.dtype), name_of(in[k].dtype),
               k);
    if (t.ndim < 0) t.ndim = in[k].ndim;
    else if (in[k].ndim >= 0 && in[k].ndim != t.ndim)
      bad_type("all inputs must have the same number of dimensions, got {} and {} (input {})", t.ndim, in[k].ndim, k);
    if (t.layout.empty()) t.layout = in[k].layout;
    else if (!in[k].layout.empty() && !(in[k].layout == t.layout))
      bad_type("all inputs must have the same layout, got '{}' and '{}' (input {})", t.layout.str(), in[k].layout.str(),
               k);
  }
  return t;
}

inline const std::string& one_letter(const std::string& axis_name) {
  if (axis_name.size() != 1) bad_argument("axis_name must be one letter, got '{}'", axis_name);
  return axis_name;
}

}  // namespace penstock
