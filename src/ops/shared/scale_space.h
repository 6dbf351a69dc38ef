// SPDX-License-Identifier: Apache-2.0
// An image at many scales: Gaussians and their differences, octave by octave (D. Lowe, "Distinctive image features from
// scale-invariant keypoints", 2004).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace penstock {

struct SiftRule {
  int64_t most_features;  // 0: all
  int layers;             // of an octave, in which there may be keypoints
  double contrast_threshold, edge_threshold;
  double sigma;   // of the first layer
  bool expanded;  // the first octave has twice the size
};

struct FloatPlane {
  int64_t height = 0, width = 0;
  FloatPlane() = default;
  FloatPlane(int64_t h, int64_t w)
      : height(h),
        width(w),
        pitch_(w % 256 == 0 ? w + 16 : w),
        values_(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(h * pitch_))) {}
  float* row(int64_t y) { return values_.get() + y * pitch_; }
  const float* row(int64_t y) const { return values_.get() + y * pitch_; }

 private:
  int64_t pitch_ =
      0;  // one cache line more than a width of 2^k has: all rows would be in the same few lines of a cache
  std::unique_ptr<float[]> values_;
};

struct Octave {
  std::vector<FloatPlane> smooth;       // layers + 3
  std::vector<FloatPlane> differences;  // layers + 2: of each smooth plane and the one before
};

// Images with an empty result have no octaves.
std::vector<Octave> scale_space(const uint8_t* gray, int64_t height, int64_t width, const SiftRule& rule);

}  // namespace penstock
