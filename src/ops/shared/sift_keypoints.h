// SPDX-License-Identifier: Apache-2.0
// Keypoints in a scale space, and what describes them (D. Lowe, 2004), on the CPU.
#pragma once
#include "ops/shared/scale_space.h"

namespace penstock {

// Extrema of the differences, each with its directions: without duplicates, in the order of x, then of y.
std::vector<Keypoint> sift_keypoints(const std::vector<Octave>& octaves, const SiftRule& rule);

// The numbers of a keypoint's descriptor.
void describe_keypoint(const std::vector<Octave>& octaves, const Keypoint& point, uint8_t* to);

// Gradients around a point, row by row of its window: magnitudes, and angles in degrees.
class GradientRows {
 public:
  GradientRows(const FloatPlane& plane, const GradientWindow& window) : plane_(plane), window_(window) {}
  void compute(int32_t row, float* magnitudes, float* angles) const;

 private:
  const FloatPlane& plane_;
  GradientWindow window_;
};

}  // namespace penstock
