// SPDX-License-Identifier: Apache-2.0
// The canvas of a rotated image; rotate fills it, and bbox_rotate uses its units.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "base/error.h"

namespace penstock {

constexpr double kDegree = std::numbers::pi / 180;

struct Turn {
  double cos, sin;
};
// Multiples of 90 degrees are exact.
inline Turn exact_turn(double degrees) {
  const double turn = std::remainder(degrees, 360.0), c = std::cos(turn * kDegree), s = std::sin(turn * kDegree);
  return std::fmod(turn, 90.0) == 0 ? Turn{std::rint(c), std::rint(s)} : Turn{c, s};
}
// The canvas is computed from the angle in float32 radians, which decides its parity near 45 degrees.
inline Turn canvas_turn(float degrees) {
  if (!std::isfinite(degrees)) bad_argument("angle must be finite, got {}", degrees);
  const double about = static_cast<float>(static_cast<double>(degrees) * kDegree);
  return {std::cos(about), std::sin(about)};
}

// Extent of axis i of n axes (x, y[, z]): the largest of all frames. `reach`: n x n numbers per frame, how far the axes
// of the input extend along those of the output. It has the parity of the input axis that it shows most of, so that
// centers fall on centers; frames vote on the parity.
inline int64_t rotated_extent(int i, int n, const int64_t* in, std::span<const double> reach) {
  int64_t largest = 0, odd = 0;
  const size_t frames = reach.size() / (n * n);
  for (size_t k = 0; k < frames; ++k) {
    const double* row = reach.data() + k * n * n + i * n;
    double sum = 0;
    int most = i;  // its own axis on a tie
    for (int j = 0; j < n; ++j) {
      sum += row[j] * static_cast<double>(in[j]);
      if (row[j] > row[most]) most = j;
    }
    largest = std::max(largest, static_cast<int64_t>(std::ceil(sum - 0.01)));
    odd += in[most] % 2;
  }
  const int64_t want = 2 * odd > static_cast<int64_t>(frames) ? 1 : 0;
  return largest + (largest % 2 != want);
}

}  // namespace penstock
