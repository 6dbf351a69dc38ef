// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/homography.h"

#include "ops/shared/linear_system.h"

namespace penstock {
namespace {

// Moves the center of points to 0 and makes their mean distance from it sqrt(2) (Hartley, 1997).
struct Centered {
  double x = 0, y = 0, scale = 1;
  std::vector<PlanePoint> points;
  explicit Centered(const std::vector<PlanePoint>& given) {
    const auto n = static_cast<double>(given.size());
    for (const PlanePoint& p : given) x += p.x / n, y += p.y / n;
    double distance = 0;
    for (const PlanePoint& p : given) distance += std::hypot(p.x - x, p.y - y) / n;
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
  double sums[9][9] = {}, vectors[9][9];
  // Two equations of a pair: x, y, 1 in the first or in the second three places, and the last three.
  constexpr int kPlaces[2][6] = {{0, 1, 2, 6, 7, 8}, {3, 4, 5, 6, 7, 8}};
  for (size_t k = 0; k < from.size(); ++k) {
    const double x = from[k].x, y = from[k].y, u = to[k].x, v = to[k].y;
    const double rows[2][6] = {{x, y, 1, -u * x, -u * y, -u}, {x, y, 1, -v * x, -v * y, -v}};
    for (int r = 0; r < 2; ++r)
      for (int i = 0; i < 6; ++i)
        for (int j = i; j < 6; ++j) sums[kPlaces[r][i]][kPlaces[r][j]] += rows[r][i] * rows[r][j];
  }
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

double squared_error(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to, const Perspective& h) {
  double sum = 0;
  for (size_t k = 0; k < from.size(); ++k) {
    const double x = from[k].x, y = from[k].y, w = h[6] * x + h[7] * y + h[8];
    const double u = (h[0] * x + h[1] * y + h[2]) / w - to[k].x, v = (h[3] * x + h[4] * y + h[5]) / w - to[k].y;
    sum += u * u + v * v;
  }
  return sum;
}

// A step of Levenberg and Marquardt toward the least squared distances, of the first 8 numbers.
// `error` is that of h.
bool improved(const std::vector<PlanePoint>& from, const std::vector<PlanePoint>& to, double damping, Perspective& h,
              double& error) {
  std::vector<double> rows(8 * 9, 0.0);
  for (size_t k = 0; k < from.size(); ++k) {
    const double x = from[k].x, y = from[k].y, w = 1 / (h[6] * x + h[7] * y + h[8]);
    const double u = (h[0] * x + h[1] * y + h[2]) * w, v = (h[3] * x + h[4] * y + h[5]) * w;
    const double slopes[2][5] = {{x * w, y * w, w, -u * x * w, -u * y * w}, {x * w, y * w, w, -v * x * w, -v * y * w}};
    const double rest[2] = {to[k].x - u, to[k].y - v};
    constexpr size_t kPlaces[2][5] = {{0, 1, 2, 6, 7}, {3, 4, 5, 6, 7}};
    for (size_t a = 0; a < 2; ++a)
      for (size_t i = 0; i < 5; ++i) {
        double* const row = rows.data() + kPlaces[a][i] * 9;
        for (size_t j = i; j < 5; ++j) row[kPlaces[a][j]] += slopes[a][i] * slopes[a][j];
        row[8] += slopes[a][i] * rest[a];
      }
  }
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < i; ++j) rows[i * 9 + j] = rows[j * 9 + i];
    rows[i * 9 + i] *= 1 + damping;
  }
  if (!solve(rows, 8, 1)) return false;
  Perspective next = h;
  for (size_t i = 0; i < 8; ++i) next[i] += rows[i * 9 + 8];
  const double found = squared_error(from, to, next);
  if (!(found < error)) return false;
  h = next, error = found;
  return true;
}

}  // namespace

bool fit_perspective(const std::vector<PlanePoint>& source, const std::vector<PlanePoint>& target, Perspective& out,
                     int steps) {
  const Centered from(source), to(target);
  Perspective h{};
  if (!fit_algebraic(from.points, to.points, h)) return false;
  double damping = 1e-3, error = squared_error(from.points, to.points, h);
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
