// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/mesh_cells.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/crew.h"

namespace penstock {
namespace {

struct MeshCell {
  double low_x, low_y, high_x, high_y;
  double u[3], v[3], w[3];
  double left, top, wide, tall;
};
static_assert(sizeof(MeshCell) == 17 * sizeof(double));

using MeshCorner = std::array<double, 2>;
// What maps the unit square to four corners, clockwise from (0, 0), inverted up to a factor; positive inside.
void invert_square(const std::array<MeshCorner, 4>& q, MeshCell& cell) {
  double sums[2], right[2], below[2];
  for (size_t a = 0; a < 2; ++a) {
    sums[a] = q[0][a] - q[1][a] + q[2][a] - q[3][a];
    right[a] = q[1][a] - q[2][a], below[a] = q[3][a] - q[2][a];
  }
  const double whole = right[0] * below[1] - below[0] * right[1];
  const double g = whole == 0 ? 0 : (sums[0] * below[1] - below[0] * sums[1]) / whole;
  const double h = whole == 0 ? 0 : (right[0] * sums[1] - sums[0] * right[1]) / whole;
  double m[2][3];
  for (size_t a = 0; a < 2; ++a)
    m[a][0] = q[1][a] - q[0][a] + g * q[1][a], m[a][1] = q[3][a] - q[0][a] + h * q[3][a], m[a][2] = q[0][a];
  const double *x = m[0], *y = m[1];
  const double made[3][3] = {{y[1] - y[2] * h, x[2] * h - x[1], x[1] * y[2] - x[2] * y[1]},
                             {y[2] * g - y[0], x[0] - x[2] * g, x[2] * y[0] - x[0] * y[2]},
                             {y[0] * h - y[1] * g, x[1] * g - x[0] * h, x[0] * y[1] - x[1] * y[0]}};
  double* const to[3] = {cell.u, cell.v, cell.w};
  const double middle = MeshRule::along(made[2], (q[0][0] + q[1][0] + q[2][0] + q[3][0]) / 4,
                                        (q[0][1] + q[1][1] + q[2][1] + q[3][1]) / 4);
  for (size_t r = 0; r < 3; ++r)
    for (size_t k = 0; k < 3; ++k) to[r][k] = middle < 0 ? -made[r][k] : made[r][k];
}
}  // namespace

std::vector<double> mesh_cells(const std::vector<float>& columns, const std::vector<float>& rows,
                               const std::vector<float>& moves) {
  std::vector<double> made;
  const auto corner = [&](size_t i, size_t j) {
    const size_t k = 2 * (i * columns.size() + j);
    return MeshCorner{static_cast<double>(columns[j]) + static_cast<double>(moves[k]),
                      static_cast<double>(rows[i]) + static_cast<double>(moves[k + 1])};
  };
  for (size_t i = 0; i + 1 < rows.size(); ++i)
    for (size_t j = 0; j + 1 < columns.size(); ++j) {
      const std::array<MeshCorner, 4> q{corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j)};
      MeshCell cell{q[0][0], q[0][1], q[0][0], q[0][1], {}, {}, {}, columns[j], rows[i], 0, 0};
      for (const MeshCorner& p : q) {
        cell.low_x = std::min(cell.low_x, p[0]), cell.high_x = std::max(cell.high_x, p[0]);
        cell.low_y = std::min(cell.low_y, p[1]), cell.high_y = std::max(cell.high_y, p[1]);
      }
      cell.wide = static_cast<double>(columns[j + 1]) - cell.left,
      cell.tall = static_cast<double>(rows[i + 1]) - cell.top;
      invert_square(q, cell);
      const auto* numbers = reinterpret_cast<const double*>(&cell);
      made.insert(made.end(), numbers, numbers + 17);
    }
  return made;
}

// A cell is visited for the pixels near it alone.
void displace_by_mesh(const MeshRule::Coef& c, const std::vector<double>& cells, float* dx, float* dy) {
  Crew::share(c.height, int64_t{8} * c.height * c.width, [&](int64_t first, int64_t end) {
    std::fill(dx + first * c.width, dx + end * c.width, 0.0f),
        std::fill(dy + first * c.width, dy + end * c.width, 0.0f);
    for (int64_t row = first; row < end; ++row)
      for (int32_t k = 0; k < c.cells; ++k) {
        const double* cell = cells.data() + int64_t{17} * k;
        const double y = static_cast<double>(row) + c.shift;
        if (y < cell[1] || y > cell[3]) continue;
        const double most = c.width;
        const auto begin = static_cast<int64_t>(std::clamp(std::floor(cell[0] - c.shift), 0.0, most));
        const auto stop = static_cast<int64_t>(std::clamp(std::floor(cell[2] - c.shift) + 1, 0.0, most));
        for (int64_t i = begin; i < stop; ++i) {
          double at[2];
          const double x = static_cast<double>(i) + c.shift;
          if (!MeshRule::shown(cell, x, y, at)) continue;
          dx[row * c.width + i] = static_cast<float>(at[0] - x), dy[row * c.width + i] = static_cast<float>(at[1] - y);
        }
      }
  });
}

}  // namespace penstock
