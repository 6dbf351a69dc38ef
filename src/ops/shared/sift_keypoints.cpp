// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/sift_keypoints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/target.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS sift_loops
#define PENSTOCK_LOOPS_TEXT "ops/shared/sift_keypoints.inc.h"
#include "base/foreach_target.h"

struct Differences {
  const Octave& octave;
  float at(int32_t layer, int32_t y, int32_t x) const {
    return octave.differences[static_cast<size_t>(layer)].row(y)[x];
  }
};

// The directions of gradients around a keypoint, as a smooth histogram.
std::array<float, kDirectionBins> directions(const FloatPlane& plane, const Keypoint& point) {
  const DirectionRule rule(point);
  const GradientWindow w = window_around(point, rule.radius(), plane.height, plane.width);
  const GradientRows rows(plane, w);
  std::vector<float> magnitudes(static_cast<size_t>(w.columns)), angles(magnitudes), weights;
  for (int32_t k = 0; k <= w.radius; ++k) weights.push_back(rule.weight(k));
  std::array<int32_t, kDirectionBins> sums{};
  for (int32_t i = w.first_row; i <= w.last_row; ++i) {
    rows.compute(i, magnitudes.data(), angles.data());
    for (int32_t k = 0; k < w.columns; ++k) {
      const float weight =
          weights[static_cast<size_t>(std::abs(i))] * weights[static_cast<size_t>(std::abs(w.first_column + k))];
      sums[static_cast<size_t>(DirectionRule::bin_of(angles[static_cast<size_t>(k)]))] +=
          rule.share(weight, magnitudes[static_cast<size_t>(k)]);
    }
  }
  std::array<float, kDirectionBins> smooth;
  for (int k = 0; k < kDirectionBins; ++k) smooth[static_cast<size_t>(k)] = smooth_direction(sums.data(), k);
  return smooth;
}
void add_with_directions(const FloatPlane& plane, Keypoint point, std::vector<Keypoint>& to) {
  const auto bins = directions(plane, point);
  const float largest = *std::max_element(bins.begin(), bins.end());
  for (int k = 0; k < kDirectionBins; ++k)
    if (is_direction(bins.data(), k, largest, point.angle)) to.push_back(point);
}

void search_layer(const Octave& octave, int number, int layer, const SiftRule& rule, std::vector<Keypoint>& to) {
  const float threshold = least_difference(rule);
  const Target target = best_target();
  const FloatPlane& plane = octave.differences[static_cast<size_t>(layer)];
  std::vector<float> most(static_cast<size_t>(plane.width)), least(most);
  std::vector<uint8_t> marks(most.size());
  for (int64_t y = kKeypointBorder; y < plane.height - kKeypointBorder; ++y) {
    const float* rows[9];
    for (int l = 0; l < 3; ++l)
      for (int v = 0; v < 3; ++v)
        rows[3 * l + v] = octave.differences[static_cast<size_t>(layer + l - 1)].row(y + v - 1);
    PENSTOCK_FOR_TARGET(target, sift_loops, extremes_down(rows, plane.width, most.data(), least.data()));
    PENSTOCK_FOR_TARGET(target, sift_loops,
                        mark_extremes(plane.row(y), most.data(), least.data(), threshold, plane.width, marks.data()));
    const uint8_t *at = marks.data() + kKeypointBorder, *const end = marks.data() + plane.width - kKeypointBorder;
    const auto next = [&] {
      return at < end && (at = static_cast<const uint8_t*>(std::memchr(at, 1, static_cast<size_t>(end - at))));
    };
    for (; next(); ++at) {
      Keypoint point{number, layer, 0, 0, 0, 0, 0};
      if (settled(Differences{octave}, static_cast<int32_t>(plane.height), static_cast<int32_t>(plane.width), rule,
                  static_cast<int32_t>(y), static_cast<int32_t>(at - marks.data()), point))
        add_with_directions(octave.smooth[static_cast<size_t>(point.layer)], point, to);
    }
  }
}

}  // namespace

void GradientRows::compute(int32_t row, float* magnitudes, float* angles) const {
  const int64_t at = window_.x + window_.first_column, y = window_.y + row;
  PENSTOCK_FOR_TARGET(best_target(), sift_loops,
                      gradients(plane_.row(y - 1) + at, plane_.row(y) + at, plane_.row(y + 1) + at, window_.columns,
                                magnitudes, angles));
}

std::vector<Keypoint> sift_keypoints(const std::vector<Octave>& octaves, const SiftRule& rule) {
  std::vector<Keypoint> points;
  for (size_t o = 0; o < octaves.size(); ++o)
    for (int layer = 1; layer <= rule.layers; ++layer)
      if (octaves[o].smooth[0].width > 2 * kKeypointBorder)
        search_layer(octaves[o], static_cast<int>(o), layer, rule, points);
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return order_of(a, b) < 0; });
  const auto same = [](const Keypoint& a, const Keypoint& b) { return order_of(a, b) == 0; };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  const auto most = static_cast<size_t>(rule.most_features);
  if (most == 0 || points.size() <= most) return points;
  std::vector<float> responses;
  for (const Keypoint& p : points) responses.push_back(p.response);
  const auto last = responses.begin() + static_cast<ptrdiff_t>(most) - 1;
  std::nth_element(responses.begin(), last, responses.end(), std::greater<>());
  const float limit = *last;
  auto equal = static_cast<int64_t>(most) -
               std::count_if(points.begin(), points.end(), [&](const Keypoint& p) { return p.response > limit; });
  std::erase_if(points, [&](const Keypoint& p) { return p.response < limit || (p.response == limit && equal-- <= 0); });
  return points;
}

}  // namespace penstock
