// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/sift_keypoints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <tuple>

#include "base/target.h"
#include "pixel/transcendental32.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS sift_loops
#define PENSTOCK_LOOPS_TEXT "ops/shared/sift_keypoints.inc.h"
#include "base/foreach_target.h"

constexpr int64_t kBorder = 5;  // no keypoint is nearer to the edge of an octave
constexpr int kBins = 36;       // of directions

// A number of the differences and those around it.
struct Neighborhood {
  const Octave& octave;
  int layer;
  int64_t y, x;
  float at(int l, int64_t v, int64_t u) const {
    return octave.differences[static_cast<size_t>(layer + l)].row(y + v)[x + u];
  }
};
struct Slopes {
  double first[3];  // along x, y and layers
  double second[3][3];
};
Slopes slopes_of(const Neighborhood& n) {
  constexpr double kUnit = 1.0 / 255;
  const double twice = 2.0 * n.at(0, 0, 0);
  const auto cross = [](double a, double b, double c, double d) { return (a - b - c + d) * kUnit / 4; };
  Slopes s;
  s.first[0] = (static_cast<double>(n.at(0, 0, 1)) - n.at(0, 0, -1)) * kUnit / 2;
  s.first[1] = (static_cast<double>(n.at(0, 1, 0)) - n.at(0, -1, 0)) * kUnit / 2;
  s.first[2] = (static_cast<double>(n.at(1, 0, 0)) - n.at(-1, 0, 0)) * kUnit / 2;
  s.second[0][0] = (static_cast<double>(n.at(0, 0, 1)) + n.at(0, 0, -1) - twice) * kUnit;
  s.second[1][1] = (static_cast<double>(n.at(0, 1, 0)) + n.at(0, -1, 0) - twice) * kUnit;
  s.second[2][2] = (static_cast<double>(n.at(1, 0, 0)) + n.at(-1, 0, 0) - twice) * kUnit;
  s.second[0][1] = cross(n.at(0, 1, 1), n.at(0, 1, -1), n.at(0, -1, 1), n.at(0, -1, -1));
  s.second[0][2] = cross(n.at(1, 0, 1), n.at(1, 0, -1), n.at(-1, 0, 1), n.at(-1, 0, -1));
  s.second[1][2] = cross(n.at(1, 1, 0), n.at(1, -1, 0), n.at(-1, 1, 0), n.at(-1, -1, 0));
  s.second[1][0] = s.second[0][1], s.second[2][0] = s.second[0][2], s.second[2][1] = s.second[1][2];
  return s;
}
// The step to the extremum of the parabola through a neighborhood, by Cramer's rule; 0 where it has none.
std::array<double, 3> step_of(const Slopes& s) {
  const auto& m = s.second;
  const auto determinant = [](const double (&a)[3][3]) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  };
  std::array<double, 3> step{};
  const double whole = determinant(m);
  if (whole == 0) return step;
  for (size_t k = 0; k < 3; ++k) {
    double part[3][3];
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < 3; ++c) part[r][c] = c == k ? s.first[r] : m[r][c];
    step[k] = -determinant(part) / whole;
  }
  return step;
}

// The keypoint at an extremum, between pixels and layers; nothing where it is not stable.
std::optional<Keypoint> settled(const Octave& octave, int number, Neighborhood n, const SiftRule& rule) {
  const FloatPlane& plane = octave.differences[0];
  for (int turn = 0; turn < 5; ++turn) {
    const Slopes s = slopes_of(n);
    const auto step = step_of(s);
    const bool stays = std::all_of(step.begin(), step.end(), [](double v) { return std::fabs(v) < 0.5; });
    if (stays) {
      const double value =
          n.at(0, 0, 0) / 255.0 + (s.first[0] * step[0] + s.first[1] * step[1] + s.first[2] * step[2]) / 2;
      if (std::fabs(value) * rule.layers < rule.contrast_threshold) return {};
      const double trace = s.second[0][0] + s.second[1][1];
      const double determinant = s.second[0][0] * s.second[1][1] - s.second[0][1] * s.second[0][1];
      const double edge = rule.edge_threshold;
      if (determinant <= 0 || trace * trace * edge >= (edge + 1) * (edge + 1) * determinant) return {};
      const double scale = rule.sigma * std::exp2((n.layer + step[2]) / rule.layers);
      return Keypoint{number,
                      n.layer,
                      static_cast<float>(static_cast<double>(n.x) + step[0]),
                      static_cast<float>(static_cast<double>(n.y) + step[1]),
                      static_cast<float>(scale),
                      static_cast<float>(std::fabs(value))};
    }
    if (std::any_of(step.begin(), step.end(), [](double v) { return !(std::fabs(v) < 1e6); })) return {};
    n.x += std::llrint(step[0]), n.y += std::llrint(step[1]), n.layer += static_cast<int>(std::lrint(step[2]));
    if (n.layer < 1 || n.layer > rule.layers || n.x < kBorder || n.x >= plane.width - kBorder || n.y < kBorder ||
        n.y >= plane.height - kBorder)
      return {};
  }
  return {};
}

// The directions of gradients around a keypoint, as a smooth histogram.
std::array<float, kBins> directions(const FloatPlane& plane, const Keypoint& point) {
  const float deviation = 1.5f * point.scale;
  const int radius = static_cast<int>(std::lrint(3 * deviation));
  const GradientRows rows(plane, std::llrint(point.x), std::llrint(point.y), radius);
  std::vector<float> magnitudes(static_cast<size_t>(rows.columns())), angles(magnitudes), weights;
  for (int k = 0; k <= radius; ++k)
    weights.push_back(std::exp(-static_cast<float>(k * k) / (2 * deviation * deviation)));
  std::array<float, kBins> sums{};
  for (int i = rows.first_row(); i <= rows.last_row(); ++i) {
    rows.compute(i, magnitudes.data(), angles.data());
    for (int k = 0; k < rows.columns(); ++k) {
      const int j = rows.first_column() + k;
      const float w = weights[static_cast<size_t>(std::abs(i))] * weights[static_cast<size_t>(std::abs(j))];
      int bin = static_cast<int>(angles[static_cast<size_t>(k)] * (kBins / 360.0f) + 0.5f);
      bin = bin >= kBins ? bin - kBins : bin;
      sums[static_cast<size_t>(bin)] += w * magnitudes[static_cast<size_t>(k)];
    }
  }
  std::array<float, kBins> smooth;
  for (size_t k = 0; k < kBins; ++k) {
    const auto at = [&](size_t by) { return sums[(k + by) % kBins]; };
    smooth[k] = (at(kBins - 2) + at(2)) * (1 / 16.0f) + (at(kBins - 1) + at(1)) * (4 / 16.0f) + at(0) * (6 / 16.0f);
  }
  return smooth;
}
// A keypoint for each direction that is at least 0.8 times as frequent as the most frequent one.
void add_with_directions(const FloatPlane& plane, Keypoint point, std::vector<Keypoint>& to) {
  const auto bins = directions(plane, point);
  const float limit = *std::max_element(bins.begin(), bins.end()) * 0.8f;
  for (size_t k = 0; k < kBins; ++k) {
    const float left = bins[(k + kBins - 1) % kBins], own = bins[k], right = bins[(k + 1) % kBins];
    if (!(own > left && own > right && own >= limit)) continue;
    float bin = static_cast<float>(k) + 0.5f * (left - right) / (left - 2 * own + right);
    bin = bin < 0 ? kBins + bin : bin >= kBins ? bin - kBins : bin;
    point.angle = 360.0f - bin * (360.0f / kBins);
    if (std::fabs(point.angle - 360.0f) < 1e-6f) point.angle = 0;
    to.push_back(point);
  }
}

void search_layer(const Octave& octave, int number, int layer, const SiftRule& rule, std::vector<Keypoint>& to) {
  const auto threshold = static_cast<float>(std::floor(0.5 * rule.contrast_threshold / rule.layers * 255));
  const Target target = best_target();
  const FloatPlane& plane = octave.differences[static_cast<size_t>(layer)];
  std::vector<float> most(static_cast<size_t>(plane.width)), least(most);
  std::vector<uint8_t> marks(most.size());
  for (int64_t y = kBorder; y < plane.height - kBorder; ++y) {
    const float* rows[9];
    for (int l = 0; l < 3; ++l)
      for (int v = 0; v < 3; ++v)
        rows[3 * l + v] = octave.differences[static_cast<size_t>(layer + l - 1)].row(y + v - 1);
    PENSTOCK_FOR_TARGET(target, sift_loops, extremes_down(rows, plane.width, most.data(), least.data()));
    PENSTOCK_FOR_TARGET(target, sift_loops,
                        mark_extremes(plane.row(y), most.data(), least.data(), threshold, plane.width, marks.data()));
    const uint8_t *at = marks.data() + kBorder, *const end = marks.data() + plane.width - kBorder;
    const auto next = [&] {
      return at < end && (at = static_cast<const uint8_t*>(std::memchr(at, 1, static_cast<size_t>(end - at))));
    };
    for (; next(); ++at)
      if (const auto point = settled(octave, number, {octave, layer, y, at - marks.data()}, rule))
        add_with_directions(octave.smooth[static_cast<size_t>(point->layer)], *point, to);
  }
}

}  // namespace

GradientRows::GradientRows(const FloatPlane& plane, int64_t x, int64_t y, int radius) : plane_(plane), x_(x), y_(y) {
  first_row_ = static_cast<int>(std::max<int64_t>(-radius, 1 - y));
  last_row_ = static_cast<int>(std::min<int64_t>(radius, plane.height - 2 - y));
  first_column_ = static_cast<int>(std::max<int64_t>(-radius, 1 - x));
  columns_ = std::max(0, static_cast<int>(std::min<int64_t>(radius, plane.width - 2 - x)) - first_column_ + 1);
}
void GradientRows::compute(int row, float* magnitudes, float* angles) const {
  const int64_t at = x_ + first_column_;
  PENSTOCK_FOR_TARGET(best_target(), sift_loops,
                      gradients(plane_.row(y_ + row - 1) + at, plane_.row(y_ + row) + at, plane_.row(y_ + row + 1) + at,
                                columns_, magnitudes, angles));
}

std::vector<Keypoint> sift_keypoints(const std::vector<Octave>& octaves, const SiftRule& rule) {
  std::vector<Keypoint> points;
  for (size_t o = 0; o < octaves.size(); ++o)
    for (int layer = 1; layer <= rule.layers; ++layer)
      if (octaves[o].smooth[0].width > 2 * kBorder) search_layer(octaves[o], static_cast<int>(o), layer, rule, points);
  const auto place = [](const Keypoint& p) {
    const float unit = std::ldexp(1.0f, p.octave);
    return std::tuple(p.x * unit, p.y * unit, -p.scale * unit, p.angle, -p.response, p.octave);
  };
  std::sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto same = [&](const Keypoint& a, const Keypoint& b) { return place(a) == place(b); };
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
