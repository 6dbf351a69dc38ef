// SPDX-License-Identifier: Apache-2.0
// The inverse of a small square matrix.
#pragma once
#include <algorithm>
#include <cmath>

namespace penstock {

// The left n columns of the n rows become the unit matrix, by Gauss-Jordan elimination with the largest pivot of a
// column; the next n columns, which begin as the unit matrix, the inverse. False: the matrix is singular.
template <int kMost> bool make_inverse(double (&a)[kMost][2 * kMost], int n) {
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) a[r][n + c] = r == c;
  for (int c = 0; c < n; ++c) {
    int best = c;
    for (int r = c; r < n; ++r)
      if (std::fabs(a[r][c]) > std::fabs(a[best][c])) best = r;
    if (!(std::fabs(a[best][c]) > 0)) return false;
    std::swap_ranges(a[c], a[c] + 2 * n, a[best]);
    const double scale = 1 / a[c][c];
    for (int k = 0; k < 2 * n; ++k) a[c][k] *= scale;
    for (int r = 0; r < n; ++r) {
      const double f = a[r][c];
      if (r == c || f == 0) continue;
      for (int k = 0; k < 2 * n; ++k) a[r][k] -= f * a[c][k];
    }
  }
  return true;
}

}  // namespace penstock
