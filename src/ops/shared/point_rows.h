// SPDX-License-Identifier: Apache-2.0
// Points of a plane, as rows of x and y that the host reads.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include "operator/operator.h"

namespace penstock {

struct PlanePoint {
  double x, y;
};

inline void check_point_type(const ValueType& in, const char* name) {
  if (in.dtype != DType::float32 && in.dtype != DType::none)
    bad_type("{} must be float32, got {}", name, name_of(in.dtype));
  if (in.ndim >= 0 && in.ndim != 2) bad_type("{} must have the shape (N, 2), got {} dimensions", name, in.ndim);
}
inline void check_point_shape(const Shape& in, const char* name) {
  if (in.size() != 2 || (in[1] >= 0 && in[1] != 2))
    bad_argument("{} must have the shape (N, 2), got {}", name, in.text());
}
inline std::vector<PlanePoint> read_points(const View& in, const char* name, int sample) {
  std::vector<PlanePoint> points;
  for (int64_t i = 0; i < in.shape[0]; ++i) {
    const float* const row = in.as<const float>() + i * in.strides[0];
    points.push_back({static_cast<double>(row[0]), static_cast<double>(row[in.strides[1]])});
    if (!std::isfinite(row[0]) || !std::isfinite(row[in.strides[1]]))
      bad_argument("point {} of the {} of sample {} is not finite", i, name, sample);
  }
  return points;
}

}  // namespace penstock
