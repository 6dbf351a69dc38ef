// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/target.h"
#include "ops/shared/sift_keypoints.h"

namespace penstock {
namespace {

constexpr int kCells = 4, kDirections = 8;  // 4 x 4 histograms of 8 directions

struct TurnedCells {
  float cosine, sine;  // of the angle, in cells for a pixel
  float angle;         // degrees
};
#define PENSTOCK_LOOPS descriptor_cells
#define PENSTOCK_LOOPS_TEXT "ops/shared/sift_descriptors.inc.h"
#include "base/foreach_target.h"

// The histograms with a cell around them and two directions after the last, into which nothing need be checked.
class Histograms {
 public:
  void add(float down, float across, float direction, float weight) {
    const float row = std::floor(down), column = std::floor(across), turn = std::floor(direction);
    const float v = down - row, u = across - column, w = direction - turn;
    int bin = static_cast<int>(turn);
    bin += bin < 0 ? kDirections : bin >= kDirections ? -kDirections : 0;
    float* const at =
        sums_.data() + ((static_cast<int>(row) + 1) * (kCells + 2) + static_cast<int>(column) + 1) * kDepth + bin;
    const float lower = weight * v, upper = weight - lower;
    const float far_lower = lower * u, near_lower = lower - far_lower;
    const float far_upper = upper * u, near_upper = upper - far_upper;
    const auto share = [&](float* to, float part) {
      const float next = part * w;
      to[0] += part - next, to[1] += next;
    };
    share(at, near_upper), share(at + kDepth, far_upper);
    share(at + (kCells + 2) * kDepth, near_lower), share(at + (kCells + 3) * kDepth, far_lower);
  }
  // The numbers, with length 512 after those of more than 0.2 of the length are cut.
  void write(uint8_t* to) const {
    std::array<float, kSiftNumbers> all;
    float* next = all.data();
    for (int row = 1; row <= kCells; ++row)
      for (int column = 1; column <= kCells; ++column) {
        const float* const at = sums_.data() + (row * (kCells + 2) + column) * kDepth;
        for (int k = 0; k < kDirections; ++k) *next++ = at[k] + (k == 0 ? at[kDirections] : 0.0f);
      }
    const float limit = length_of(all) * 0.2f;
    for (float& v : all) v = std::min(v, limit);
    const float scale = 512 / std::max(length_of(all), 1e-7f);
    for (size_t k = 0; k < all.size(); ++k)
      to[k] = static_cast<uint8_t>(std::min(std::nearbyint(all[k] * scale), 255.0f));
  }

 private:
  static constexpr int kDepth = kDirections + 2;
  static float length_of(const std::array<float, kSiftNumbers>& all) {
    float sum = 0;
    for (const float v : all) sum += v * v;
    return std::sqrt(sum);
  }
  std::array<float, (kCells + 2) * (kCells + 2) * kDepth> sums_{};
};

}  // namespace

void describe_keypoint(const std::vector<Octave>& octaves, const Keypoint& point, uint8_t* to) {
  const FloatPlane& plane = octaves[static_cast<size_t>(point.octave)].smooth[static_cast<size_t>(point.layer)];
  float angle = 360.0f - point.angle;
  if (std::fabs(angle - 360.0f) < 1e-6f) angle = 0;
  const float cell = 3 * point.scale;  // pixels
  const double turn = angle * std::numbers::pi / 180;
  const TurnedCells cells{static_cast<float>(std::cos(turn)) / cell, static_cast<float>(std::sin(turn)) / cell, angle};
  const auto diagonal = std::sqrt(static_cast<double>(plane.width * plane.width + plane.height * plane.height));
  const int radius =
      static_cast<int>(std::min(std::nearbyint(cell * 1.4142135623730951 * (kCells + 1) * 0.5), std::floor(diagonal)));
  const GradientRows rows(plane, std::llrint(point.x), std::llrint(point.y), radius);
  const auto columns = static_cast<size_t>(rows.columns());
  std::vector<float> numbers(5 * columns), weights;
  float *const magnitudes = numbers.data(), *const angles = magnitudes + columns, *const down = angles + columns;
  float *const across = down + columns, *const direction = across + columns;
  for (int k = 0; k <= radius; ++k) {
    const float at = static_cast<float>(k) / cell;
    weights.push_back(std::exp(-at * at * (2.0f / (kCells * kCells))));
  }
  const Target target = best_target();
  Histograms sums;
  for (int i = rows.first_row(); i <= rows.last_row(); ++i) {
    rows.compute(i, magnitudes, angles);
    PENSTOCK_FOR_TARGET(target, descriptor_cells,
                        place_row(cells, static_cast<float>(i), static_cast<float>(rows.first_column()), angles,
                                  static_cast<int64_t>(columns), down, across, direction));
    for (size_t k = 0; k < columns; ++k) {
      if (!(down[k] > -1 && down[k] < kCells && across[k] > -1 && across[k] < kCells)) continue;
      const auto column = static_cast<size_t>(std::abs(rows.first_column() + static_cast<int>(k)));
      const float weight = weights[static_cast<size_t>(std::abs(i))] * weights[column];
      sums.add(down[k], across[k], direction[k], magnitudes[k] * weight);
    }
  }
  sums.write(to);
}

}  // namespace penstock
