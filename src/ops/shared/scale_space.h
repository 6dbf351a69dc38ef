// SPDX-License-Identifier: Apache-2.0
// An image at many scales: Gaussians and their differences, octave by octave (D. Lowe, "Distinctive image features from
// scale-invariant keypoints", 2004).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "families/team/kernels/keypoints.h"

namespace penstock {

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

struct PlaneExtents {
  int64_t height, width;
};
// Those of the octaves of an image; an empty image has none.
std::vector<PlaneExtents> octave_extents(int64_t height, int64_t width, const SiftRule& rule);
// The middle and one half of the Gaussian windows: [0] makes the first layer of the first octave from the image, [k]
// layer k of each octave from the one before.
std::vector<std::vector<float>> gaussian_halves(const SiftRule& rule);
// What the difference of layers at a keypoint is more than, or less than minus this.
float least_difference(const SiftRule& rule);
// The place in [0, n) that mirroring without the edge shows at any place.
int64_t mirrored_place(int64_t at, int64_t n);

std::vector<Octave> scale_space(const uint8_t* gray, int64_t height, int64_t width, const SiftRule& rule);

}  // namespace penstock
