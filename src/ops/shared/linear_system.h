// SPDX-License-Identifier: Apache-2.0
// Systems of linear equations of any size.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace penstock {

// n rows of n coefficients and `sides` right sides, which become the solutions, by Gauss-Jordan elimination with the
// largest pivot of a column. False: a pivot is 0, or a rounding error of 0.
inline bool solve(std::vector<double>& rows, size_t n, size_t sides) {
  const size_t step = n + sides;
  const auto at = [&](size_t r, size_t c) -> double& { return rows[r * step + c]; };
  double largest = 0;
  for (size_t r = 0; r < n; ++r)
    for (size_t c = 0; c < n; ++c) largest = std::max(largest, std::fabs(at(r, c)));
  for (size_t c = 0; c < n; ++c) {
    size_t best = c;
    for (size_t r = c; r < n; ++r)
      if (std::fabs(at(r, c)) > std::fabs(at(best, c))) best = r;
    if (!(std::fabs(at(best, c)) > largest * 1e-13)) return false;
    if (best != c) std::swap_ranges(&at(c, 0), &at(c, 0) + step, &at(best, 0));
    const double scale = 1 / at(c, c);
    for (size_t k = c; k < step; ++k) at(c, k) *= scale;
    for (size_t r = 0; r < n; ++r) {
      const double f = at(r, c);
      if (r == c || f == 0) continue;
      for (size_t k = c; k < step; ++k) at(r, k) -= f * at(c, k);
    }
  }
  return true;
}

}  // namespace penstock
