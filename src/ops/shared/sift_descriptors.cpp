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

// The parts of all cells at once, as CellShares::part() says.
void add_shares(const CellShares& s, int32_t* sums) {
  using Floats = float __attribute__((vector_size(16)));
  using Integers = int32_t __attribute__((vector_size(16)));
  using Pair = int32_t __attribute__((vector_size(8)));
  const Floats cells{s.cells[0], s.cells[1], s.cells[2], s.cells[3]}, second = cells * s.next;
  const auto first_parts = __builtin_convertvector(cells - second + 0.5f, Integers);
  const auto second_parts = __builtin_convertvector(second + 0.5f, Integers);
  const Integers upper = __builtin_shuffle(first_parts, second_parts, Integers{0, 4, 1, 5});
  const Integers lower = __builtin_shuffle(first_parts, second_parts, Integers{2, 6, 3, 7});
  const auto add = [&](int cell, int32_t a, int32_t b) {
    int32_t* const at = sums + s.at + CellShares::offset(cell);
    Pair old;
    std::memcpy(&old, at, sizeof old);
    old += Pair{a, b};
    std::memcpy(at, &old, sizeof old);
  };
  add(0, upper[0], upper[1]), add(1, upper[2], upper[3]);
  add(2, lower[0], lower[1]), add(3, lower[2], lower[3]);
}
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
      add_shares(shares_of(place, magnitudes[k] * weight * rule.factor), sums.data());
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
