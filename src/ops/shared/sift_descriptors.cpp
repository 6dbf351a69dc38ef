// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/target.h"
#include "ops/shared/sift_keypoints.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS descriptor_cells
#define PENSTOCK_LOOPS_TEXT "ops/shared/sift_descriptors.inc.h"
#include "base/foreach_target.h"

using Numbers = std::array<float, kSiftNumbers>;

// In halves, as a team adds them.
float squares_of(const Numbers& all) {
  Numbers sums;
  for (size_t k = 0; k < all.size(); ++k) sums[k] = all[k] * all[k];
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

}  // namespace

void describe_keypoint(const std::vector<Octave>& octaves, const Keypoint& point, uint8_t* to) {
  const FloatPlane& plane = octaves[static_cast<size_t>(point.octave)].smooth[static_cast<size_t>(point.layer)];
  const DescriptorRule rule(point);
  const GradientWindow w = window_around(point, rule.radius(plane.height, plane.width), plane.height, plane.width);
  const GradientRows rows(plane, w);
  const auto columns = static_cast<size_t>(w.columns);
  std::vector<float> numbers(5 * columns), weights;
  float *const magnitudes = numbers.data(), *const angles = magnitudes + columns, *const down = angles + columns;
  float *const across = down + columns, *const direction = across + columns;
  for (int32_t k = 0; k <= w.radius; ++k) weights.push_back(rule.weight(k));
  const Target target = best_target();
  std::array<int32_t, kHistogramNumbers> sums{};
  for (int32_t i = w.first_row; i <= w.last_row; ++i) {
    rows.compute(i, magnitudes, angles);
    PENSTOCK_FOR_TARGET(target, descriptor_cells,
                        place_row(rule, static_cast<float>(i), static_cast<float>(w.first_column), angles,
                                  static_cast<int64_t>(columns), down, across, direction));
    for (size_t k = 0; k < columns; ++k) {
      const CellPlace place{down[k], across[k], direction[k]};
      if (!place.counts()) continue;
      const auto column = static_cast<size_t>(std::abs(w.first_column + static_cast<int32_t>(k)));
      const float weight = weights[static_cast<size_t>(std::abs(i))] * weights[column];
      const CellShares shares = shares_of(place, magnitudes[k] * weight * rule.factor);
      for (int n = 0; n < 8; ++n) sums[static_cast<size_t>(shares.at + CellShares::offset(n))] += shares.parts[n];
    }
  }
  Numbers all;
  for (int k = 0; k < kSiftNumbers; ++k) all[static_cast<size_t>(k)] = number_of_cells(sums.data(), k);
  const float squares = squares_of(all);
  for (float& v : all) v = cut_number(v, squares);
  const float cut_squares = squares_of(all);
  for (size_t k = 0; k < all.size(); ++k) to[k] = scaled_number(all[k], cut_squares);
}

}  // namespace penstock
