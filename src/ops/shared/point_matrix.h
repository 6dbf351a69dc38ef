// SPDX-License-Identifier: Apache-2.0
// The matrix of a map of points, as an argument gives it.
#pragma once
#include <algorithm>
#include <cmath>

#include "operator/operator.h"

namespace penstock {

inline PointMap point_matrix(const std::vector<double>& numbers) {
  if (numbers.size() != 9 && numbers.size() != 16)
    bad_argument("matrix must have 9 or 16 values, got {}", numbers.size());
  for (const double v : numbers)
    if (!std::isfinite(v)) bad_argument("matrix must be finite");
  PointMap map;
  map.dims = numbers.size() == 9 ? 2 : 3;
  std::copy(numbers.begin(), numbers.end(), map.m);
  return map;
}

}  // namespace penstock
