// SPDX-License-Identifier: Apache-2.0
// Keypoints in a scale space, and what describes them (D. Lowe, 2004).
#pragma once
#include "ops/shared/scale_space.h"

namespace penstock {

struct Keypoint {
  int octave, layer;
  float x, y, scale;  // in pixels of the octave
  float response;
  float angle = 0;  // degrees
};

// Extrema of the differences, each with its directions: without duplicates, in the order of x, then of y.
std::vector<Keypoint> sift_keypoints(const std::vector<Octave>& octaves, const SiftRule& rule);

constexpr int kSiftNumbers = 128;
// The numbers of a keypoint's descriptor.
void describe_keypoint(const std::vector<Octave>& octaves, const Keypoint& point, uint8_t* to);

// Gradients around a point (x, y), row by row: for rows [-radius, radius] of it that are in the image. `take` gets the
// row's number, the first column and the number of columns, and for each its magnitude and its angle in degrees.
class GradientRows {
 public:
  GradientRows(const FloatPlane& plane, int64_t x, int64_t y, int radius);
  int first_row() const { return first_row_; }
  int last_row() const { return last_row_; }
  int first_column() const { return first_column_; }
  int columns() const { return columns_; }
  void compute(int row, float* magnitudes, float* angles) const;

 private:
  const FloatPlane& plane_;
  int64_t x_, y_;
  int first_row_, last_row_, first_column_, columns_;
};

}  // namespace penstock
