// SPDX-License-Identifier: Apache-2.0
// Keypoints in a scale space, and what describes them (D. Lowe, "Distinctive image features from scale-invariant
// keypoints", 2004): what both devices compute. Histograms are sums of integers, which are the same in any order.
#pragma once
#include "families/team/kernels/team.h"
#include "pixel/transcendental32.h"

namespace penstock {

struct SiftRule {
  int64_t most_features;  // 0: all
  double contrast_threshold, edge_threshold;
  double sigma;      // of the first layer
  int32_t layers;    // of an octave, in which there may be keypoints
  int32_t expanded;  // the first octave has twice the size
};

struct Keypoint {
  int32_t octave, layer;
  float x, y, scale;  // in pixels of the octave
  float response;
  float angle;  // degrees
};

constexpr int32_t kKeypointBorder = 5;  // no keypoint is nearer to the edge of an octave
constexpr int kDirectionBins = 36;
constexpr int kCells = 4, kCellDirections = 8;  // of a descriptor: 4 x 4 histograms of 8 directions
constexpr int kSiftNumbers = kCells * kCells * kCellDirections;
// The histograms with a cell around them and two directions after the last, into which nothing need be checked.
constexpr int kHistogramDepth = kCellDirections + 2, kHistogramRow = (kCells + 2) * kHistogramDepth;
constexpr int kHistogramNumbers = (kCells + 2) * kHistogramRow;

// Along x, y and layers.
struct Slopes {
  double first[3];
  double second[3][3];
};
// differences.at(layer, y, x) is a number of an octave.
template <class Differences>
PENSTOCK_HD inline Slopes slopes_at(const Differences& differences, int32_t layer, int32_t y, int32_t x) {
  constexpr double kUnit = 1.0 / 255;
  const auto at = [&](int32_t l, int32_t v, int32_t u) {
    return static_cast<double>(differences.at(layer + l, y + v, x + u));
  };
  const double twice = 2.0 * at(0, 0, 0);
  const auto cross = [](double a, double b, double c, double d) { return (a - b - c + d) * kUnit / 4; };
  Slopes s;
  s.first[0] = (at(0, 0, 1) - at(0, 0, -1)) * kUnit / 2;
  s.first[1] = (at(0, 1, 0) - at(0, -1, 0)) * kUnit / 2;
  s.first[2] = (at(1, 0, 0) - at(-1, 0, 0)) * kUnit / 2;
  s.second[0][0] = (at(0, 0, 1) + at(0, 0, -1) - twice) * kUnit;
  s.second[1][1] = (at(0, 1, 0) + at(0, -1, 0) - twice) * kUnit;
  s.second[2][2] = (at(1, 0, 0) + at(-1, 0, 0) - twice) * kUnit;
  s.second[0][1] = cross(at(0, 1, 1), at(0, 1, -1), at(0, -1, 1), at(0, -1, -1));
  s.second[0][2] = cross(at(1, 0, 1), at(1, 0, -1), at(-1, 0, 1), at(-1, 0, -1));
  s.second[1][2] = cross(at(1, 1, 0), at(1, -1, 0), at(-1, 1, 0), at(-1, -1, 0));
  s.second[1][0] = s.second[0][1];
  s.second[2][0] = s.second[0][2];
  s.second[2][1] = s.second[1][2];
  return s;
}
PENSTOCK_HD inline double determinant_of(const double (&a)[3][3]) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}
// The step to the extremum of the parabola through a neighborhood, by Cramer's rule; 0 where it has none.
PENSTOCK_HD inline void step_of(const Slopes& s, double (&step)[3]) {
  const double whole = determinant_of(s.second);
  for (int k = 0; k < 3; ++k) {
    double part[3][3];
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) part[r][c] = c == k ? s.first[r] : s.second[r][c];
    }
    step[k] = whole == 0 ? 0.0 : -determinant_of(part) / whole;
  }
}

// The keypoint at an extremum of an octave's layer, between pixels and layers; false where it is not stable.
template <class Differences>
PENSTOCK_HD inline bool settled(const Differences& differences, int32_t height, int32_t width, const SiftRule& rule,
                                int32_t y, int32_t x, Keypoint& point) {
  for (int turn = 0; turn < 5; ++turn) {
    const Slopes s = slopes_at(differences, point.layer, y, x);
    double step[3];
    step_of(s, step);
    bool stays = true, near = true;
    for (const double v : step) {
      stays &= abs(v) < 0.5;
      near &= abs(v) < 1e6;
    }
    if (stays) {
      const double value = static_cast<double>(differences.at(point.layer, y, x)) / 255.0 +
                           (s.first[0] * step[0] + s.first[1] * step[1] + s.first[2] * step[2]) / 2;
      if (abs(value) * rule.layers < rule.contrast_threshold) return false;
      const double trace = s.second[0][0] + s.second[1][1];
      const double determinant = s.second[0][0] * s.second[1][1] - s.second[0][1] * s.second[0][1];
      const double edge = rule.edge_threshold;
      if (determinant <= 0 || trace * trace * edge >= (edge + 1) * (edge + 1) * determinant) return false;
      const double octaves = (point.layer + step[2]) / rule.layers;
      point.scale = static_cast<float>(rule.sigma * exp(octaves * 0.69314718055994531));
      point.x = static_cast<float>(x + step[0]);
      point.y = static_cast<float>(y + step[1]);
      point.response = static_cast<float>(abs(value));
      return true;
    }
    if (!near) return false;
    x += static_cast<int32_t>(round_even(step[0]));
    y += static_cast<int32_t>(round_even(step[1]));
    point.layer += static_cast<int32_t>(round_even(step[2]));
    if (point.layer < 1 || point.layer > rule.layers || x < kKeypointBorder || x >= width - kKeypointBorder ||
        y < kKeypointBorder || y >= height - kKeypointBorder)
      return false;
  }
  return false;
}

// A pixel of an octave, in those of the first one.
PENSTOCK_HD inline float unit_of(const Keypoint& p) { return single_precision::power_of_two(p.octave); }
// -1, 0 or 1: the order of keypoints is that of x, then of y, then the larger ones come first.
PENSTOCK_HD inline int32_t order_of(const Keypoint& a, const Keypoint& b) {
  const float ua = unit_of(a), ub = unit_of(b);
  const float left[6] = {a.x * ua, a.y * ua, -a.scale * ua, a.angle, -a.response, static_cast<float>(a.octave)};
  const float right[6] = {b.x * ub, b.y * ub, -b.scale * ub, b.angle, -b.response, static_cast<float>(b.octave)};
  for (int k = 0; k < 6; ++k) {
    if (left[k] != right[k]) return left[k] < right[k] ? -1 : 1;
  }
  return 0;
}
// What sift returns of a keypoint: x, y, diameter, angle, response, octave, layer.
PENSTOCK_HD inline void write_keypoint(const Keypoint& p, bool expanded, float* to) {
  const float pixel = unit_of(p) * (expanded ? 0.5f : 1.0f);
  to[0] = p.x * pixel;
  to[1] = p.y * pixel;
  to[2] = 2 * p.scale * pixel;
  to[3] = p.angle;
  to[4] = p.response;
  to[5] = static_cast<float>(expanded ? p.octave - 1 : p.octave);
  to[6] = static_cast<float>(p.layer);
}

struct Gradient {
  float magnitude, angle;  // degrees
};
PENSTOCK_LOOPED Gradient gradient_of(float dx, float dy) {
  const float angle = single_precision::atan2(dy, dx) * 57.29577951f;
  return {sqrt(dx * dx + dy * dy), angle < 0 ? angle + 360.0f : angle};
}

// The places around a point that are in an image and not at its edge, relative to the pixel (x, y).
struct GradientWindow {
  int32_t x, y, radius;
  int32_t first_row, last_row, first_column, columns;
};
PENSTOCK_HD inline GradientWindow window_around(const Keypoint& p, int32_t radius, int64_t height, int64_t width) {
  GradientWindow w;
  w.x = static_cast<int32_t>(round_even(p.x));
  w.y = static_cast<int32_t>(round_even(p.y));
  w.radius = radius;
  const int32_t below = static_cast<int32_t>(height) - 2 - w.y, after = static_cast<int32_t>(width) - 2 - w.x;
  w.first_row = max(-radius, 1 - w.y);
  w.last_row = min(radius, below);
  w.first_column = max(-radius, 1 - w.x);
  w.columns = max(0, min(radius, after) - w.first_column + 1);
  return w;
}

// The power of two that makes numbers whose sum is at most `bound` integers whose sum fits 31 bits.
PENSTOCK_HD inline float fixed_point(float bound) {
  const int32_t exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(bound) >> 23) - 127;
  return single_precision::power_of_two(29 - exponent);
}
constexpr float kMostMagnitude = 361.0f;  // of a gradient of bytes

// Directions: a histogram of the gradients around a keypoint, with the weights of a Gaussian.
struct DirectionRule {
  float deviation, factor;
  PENSTOCK_HD explicit DirectionRule(const Keypoint& p) : deviation(1.5f * p.scale) {
    const float across = 1 + 2.51f * deviation;  // at least the sum of weights along an axis
    factor = fixed_point(kMostMagnitude * across * across);
  }
  PENSTOCK_HD int32_t radius() const { return static_cast<int32_t>(round_even(3 * deviation)); }
  PENSTOCK_HD float weight(int32_t k) const {
    return single_precision::exp(-static_cast<float>(k * k) / (2 * deviation * deviation));
  }
  PENSTOCK_HD static int bin_of(float angle) {
    const int bin = static_cast<int>(angle * (kDirectionBins / 360.0f) + 0.5f);
    return bin >= kDirectionBins ? bin - kDirectionBins : bin;
  }
  PENSTOCK_HD int32_t share(float weight, float magnitude) const {
    return static_cast<int32_t>(weight * magnitude * factor + 0.5f);
  }
};
PENSTOCK_HD inline float smooth_direction(const int32_t* sums, int k) {
  const auto at = [&](int by) { return static_cast<float>(sums[(k + by) % kDirectionBins]); };
  constexpr int n = kDirectionBins;
  return (at(n - 2) + at(2)) * (1 / 16.0f) + (at(n - 1) + at(1)) * (4 / 16.0f) + at(0) * (6 / 16.0f);
}
// Whether a smooth bin is a direction of the keypoint: a peak of at least 0.8 times the largest one; and its angle.
PENSTOCK_HD inline bool is_direction(const float* bins, int k, float largest, float& angle) {
  constexpr int n = kDirectionBins;
  const float left = bins[(k + n - 1) % n], own = bins[k], right = bins[(k + 1) % n];
  if (!(own > left && own > right && own >= largest * 0.8f)) return false;
  float bin = static_cast<float>(k) + 0.5f * (left - right) / (left - 2 * own + right);
  bin = bin < 0 ? n + bin : bin >= n ? bin - n : bin;
  angle = 360.0f - bin * (360.0f / n);
  if (abs(angle - 360.0f) < 1e-6f) angle = 0;
  return true;
}

// A descriptor: gradients by the cells that they are in, turned by the keypoint's angle, and by their directions.
struct DescriptorRule {
  float cell;          // pixels
  float cosine, sine;  // of the angle, in cells for a pixel
  float angle;         // degrees
  float factor;
  PENSTOCK_HD explicit DescriptorRule(const Keypoint& p) : cell(3 * p.scale), angle(360.0f - p.angle) {
    if (abs(angle - 360.0f) < 1e-6f) angle = 0;
    const float turn = angle * 0.0174532925f;
    cosine = single_precision::cos(turn) / cell;
    sine = single_precision::sin(turn) / cell;
    const float across = 2 * cell + 2;  // at least the pixels along an axis that a number counts
    factor = fixed_point(kMostMagnitude * across * across);
  }
  PENSTOCK_HD int32_t radius(int64_t height, int64_t width) const {
    const float tall = static_cast<float>(height), wide = static_cast<float>(width);
    const float diagonal = floor(sqrt(wide * wide + tall * tall));
    return static_cast<int32_t>(min(round_even(cell * (1.41421356f * 0.5f * (kCells + 1))), diagonal));
  }
  PENSTOCK_HD float weight(int32_t k) const {
    const float at = static_cast<float>(k) / cell;
    return single_precision::exp(-at * at * (2.0f / (kCells * kCells)));
  }
};
struct CellPlace {
  float down, across, direction;
  PENSTOCK_HD bool counts() const { return down > -1 && down < kCells && across > -1 && across < kCells; }
};
PENSTOCK_LOOPED CellPlace place_in_cells(const DescriptorRule& c, float row, float column, float angle) {
  return {column * c.sine + row * c.cosine + 1.5f, column * c.cosine - row * c.sine + 1.5f,
          (angle - c.angle) * (kCellDirections / 360.0f)};
}
// What a gradient adds to two directions of two cells of two rows.
struct CellShares {
  int32_t at;      // the number of the first one; then the next direction, the next cell, the next row
  float cells[4];  // to both directions of a cell
  float next;      // the fraction that the second direction gets
  // What direction k of a cell gets.
  PENSTOCK_HD int32_t part(int cell, int k) const {
    const float second = cells[cell] * next;
    return static_cast<int32_t>((k ? second : cells[cell] - second) + 0.5f);
  }
  PENSTOCK_HD static constexpr int32_t offset(int cell) {
    return (cell & 1) * kHistogramDepth + (cell >> 1) * kHistogramRow;
  }
};
// Places are more than -1, directions at least -8: conversions to integers round toward zero.
PENSTOCK_LOOPED CellShares shares_of(const CellPlace& p, float weight) {
  const int32_t row = static_cast<int32_t>(p.down + 1), column = static_cast<int32_t>(p.across + 1);
  const int32_t turn = static_cast<int32_t>(p.direction + kCellDirections);
  const float v = p.down - static_cast<float>(row - 1), u = p.across - static_cast<float>(column - 1);
  const float lower = weight * v, upper = weight - lower;
  const float far_lower = lower * u, far_upper = upper * u;
  return {row * kHistogramRow + column * kHistogramDepth + turn % kCellDirections,
          {upper - far_upper, far_upper, lower - far_lower, far_lower},
          p.direction - static_cast<float>(turn - kCellDirections)};
}
// Number k of a descriptor: the direction after the last one is the first one.
PENSTOCK_HD inline float number_of_cells(const int32_t* histograms, int k) {
  const int direction = k % kCellDirections, cell = k / kCellDirections;
  const int32_t* const at =
      histograms + (cell / kCells + 1) * kHistogramRow + (cell % kCells + 1) * kHistogramDepth + direction;
  return static_cast<float>(at[0] + (direction == 0 ? at[kCellDirections] : 0));
}
// Numbers of more than 0.2 of the length are cut, then the length is 512.
PENSTOCK_HD inline float cut_number(float v, float squares) { return min(v, sqrt(squares) * 0.2f); }
PENSTOCK_HD inline uint8_t scaled_number(float v, float squares) {
  return static_cast<uint8_t>(min(round_even(v * (512 / max(sqrt(squares), 1e-7f))), 255.0f));
}

}  // namespace penstock
