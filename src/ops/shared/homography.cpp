// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/homography.h"

#include "base/target.h"
#include "ops/shared/linear_system.h"

namespace penstock {
namespace {

struct Pairs {
  const PlanePoint *from, *to;
  size_t count;
};

#define PENSTOCK_LOOPS homography
#define PENSTOCK_LOOPS_TEXT "ops/shared/homography_sums.inc.h"
#define PENSTOCK_LOOPS_UP_TO_AVX2
#include "base/foreach_target.h"

Pairs pairs_of(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to) {
  return {from.data(), to.data(), from.size()};
}

// The upper half of the matrix of equations, two for each pair: products of the first three places, of the second
// three, and of the last `last` with all.
template <size_t last, class At> void spread(const double (&sums)[4][6], At at) {
  constexpr size_t kOf[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      const size_t k = kOf[i][j];
      if (j >= i) at(i, j) = at(3 + i, 3 + j) = sums[0][k];
      if (j < last) at(i, 6 + j) = sums[1][k], at(3 + i, 6 + j) = sums[2][k];
      if (j >= i && j < last) at(6 + i, 6 + j) = sums[3][k];
    }
}

// Moves the center of points to 0 and makes their mean distance from it sqrt(2) (Hartley, 1997).
struct Centered {
  double x = 0, y = 0, scale = 1;
  std::vector<PlanePoint> points;
  explicit Centered(const std::vector<PlanePoint>& given) {
    const auto n = static_cast<double>(given.size());
    for (const PlanePoint& p : given) x += p.x / n, y += p.y / n;
    const double distance =
        PENSTOCK_FOR_TARGET(best_target(), homography, sum_of_distances(given.data(), given.size(), x, y)) / n;
    if (distance > 0) scale = std::numbers::sqrt2 / distance;
    for (const PlanePoint& p : given) points.push_back({(p.x - x) * scale, (p.y - y) * scale});
  }
};

// The rotations that make a symmetric matrix diagonal (Jacobi): the columns of `vectors` are its eigenvectors.
template <int n> void diagonalize(double (&a)[n][n], double (&vectors)[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) vectors[i][j] = i == j;
  for (int sweep = 0; sweep < 50; ++sweep) {
    double off = 0, whole = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) (i == j ? whole : off) += a[i][j] * a[i][j];
    if (!(off > whole * 1e-32)) return;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (a[p][q] == 0) continue;
        const double half = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double t = (half < 0 ? -1 : 1) / (std::fabs(half) + std::sqrt(half * half + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double u = a[k][p], v = a[k][q], x = vectors[k][p], y = vectors[k][q];
          a[k][p] = c * u - s * v, a[k][q] = s * u + c * v;
          vectors[k][p] = c * x - s * y, vectors[k][q] = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double u = a[p][k], v = a[q][k];
          a[p][k] = c * u - s * v, a[q][k] = s * u + c * v;
        }
      }
  }
}

// The direct linear transformation: the least |A h| of |h| = 1.
bool fit_algebraic(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to, Perspective& h) {
  double sums[9][9] = {}, vectors[9][9], parts[4][6];
  PENSTOCK_FOR_TARGET(best_target(), homography, algebraic_sums(pairs_of(from, to), parts));
  spread<3>(parts, [&](size_t i, size_t j) -> double& { return sums[i][j]; });
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < i; ++j) sums[i][j] = sums[j][i];
  diagonalize(sums, vectors);
  int order[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::sort(order, order + 9, [&](int i, int j) { return sums[i][i] < sums[j][j]; });
  if (!(sums[order[1]][order[1]] > 1e-12 * sums[order[8]][order[8]])) return false;  // two solutions
  for (size_t i = 0; i < 9; ++i) h[i] = vectors[i][order[0]];
  if (!(std::fabs(h[8]) > 1e-9)) return false;  // the center of the points would go to infinity
  for (size_t i = 0; i < 9; ++i) h[i] /= vectors[8][order[0]];
  return true;
}

double error_of(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to, const Perspective& h) {
  return PENSTOCK_FOR_TARGET(best_target(), homography, squared_error(pairs_of(from, to), h.data()));
}

// A step of Levenberg and Marquardt toward the least squared distances, of the first 8 numbers.
// `error` is that of h.
bool improved(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to, double damping, Perspective& h,
              double& error) {
  std::vector<double> rows(8 * 9, 0.0);
  double parts[4][6], left[8];
  PENSTOCK_FOR_TARGET(best_target(), homography, geometric_sums(pairs_of(from, to), h.data(), parts, left));
  spread<2>(parts, [&](size_t i, size_t j) -> double& { return rows[i * 9 + j]; });
  for (size_t i = 0; i < 8; ++i) rows[i * 9 + 8] = left[i];
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < i; ++j) rows[i * 9 + j] = rows[j * 9 + i];
    rows[i * 9 + i] *= 1 + damping;
  }
  if (!solve(rows, 8, 1)) return false;
  Perspective next = h;
  for (size_t i = 0; i < 8; ++i) next[i] += rows[i * 9 + 8];
  const double found = error_of(from, to, next);
  if (!(found < error)) return false;
  h = next, error = found;
  return true;
}

}  // namespace

void squared_distances(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target,
                       const Perspective& h, double* apart) {
  PENSTOCK_FOR_TARGET(best_target(), homography, squared_distances(pairs_of(source, target), h.data(), apart));
}

bool fit_perspective(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, Perspective& out,
                     int steps) {
  const Centered from(source), to(target);
  Perspective h{};
  if (!fit_algebraic(from.points, to.points, h)) return false;
  double damping = 1e-3, error = error_of(from.points, to.points, h);
  const double most_damping = steps < kAllSteps ? 0.1 : 1e8;  // few steps begin near
  for (int step = 0; step < steps && source.size() > 4 && damping < most_damping; ++step)
    damping *= improved(from.points, to.points, damping, h, error) ? 0.1 : 10;
  // Back: first from the centered source, then to the target.
  for (size_t r = 0; r < 3; ++r) {
    double* const row = h.data() + 3 * r;
    row[2] -= (row[0] * from.x + row[1] * from.y) * from.scale;
    row[0] *= from.scale, row[1] *= from.scale;
  }
  for (size_t c = 0; c < 3; ++c) {
    out[c] = h[c] / to.scale + to.x * h[6 + c];
    out[3 + c] = h[3 + c] / to.scale + to.y * h[6 + c];
    out[6 + c] = h[6 + c];
  }
  const double unit = out[8];
  for (double& v : out) v /= unit;
  return std::all_of(out.begin(), out.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace penstock
