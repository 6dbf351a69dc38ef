// SPDX-License-Identifier: Apache-2.0
// The displacements of warp_by_mesh: the cells as numbers, the rule for a GPU, and all rows on the host.
#pragma once
#include <cstdint>
#include <vector>

#include "pixel/math.h"

namespace penstock {

// A cell has 17 numbers: the box around its four corners in the output (left, top, right, bottom); three rows of what
// maps the output to its square from (0, 0) to (1, 1); its left, top, width and height in the input.
struct MeshRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int32_t height;
        int32_t width;
        int32_t cells;
        int32_t unused;
        double shift;  // from the index of a pixel to its position
      };
      PENSTOCK_HD static double along(const double* m, double x, double y) { return m[0] * x + m[1] * y + m[2]; }
      // The position in the input that a cell shows at (x, y); false: the cell is not there.
      PENSTOCK_HD static bool shown(const double* cell, double x, double y, double* at) {
        if (x < cell[0] || y < cell[1] || x > cell[2] || y > cell[3]) return false;
        const double w = along(cell + 10, x, y);
        const double u = along(cell + 4, x, y) / w;
        const double v = along(cell + 7, x, y) / w;
        const double slack = 1e-9;  // no pixel falls between two cells
        at[0] = cell[13] + u * cell[15];
        at[1] = cell[14] + v * cell[16];
        return w > 0 && u >= -slack && u <= 1 + slack && v >= -slack && v <= 1 + slack;
      } PENSTOCK_HD static float displacement(int64_t i, const Coef& c, const double* cells) {
        const int64_t plane = int64_t{c.height} * c.width;
        const bool along_y = i >= plane;
        const int64_t pixel = along_y ? i - plane : i;
        const int64_t row = pixel / c.width;
        const double x = static_cast<double>(pixel - row * c.width) + c.shift;
        const double y = static_cast<double>(row) + c.shift;
        for (int32_t k = c.cells - 1; k >= 0; --k) {
          double at[2];
          if (shown(cells + int64_t{17} * k, x, y, at)) return static_cast<float>(along_y ? at[1] - y : at[0] - x);
        }
        return 0.0f;
      });
};

// `moves`: two numbers for each corner of the mesh, row by row.
std::vector<double> mesh_cells(const std::vector<float>& columns, const std::vector<float>& rows,
                               const std::vector<float>& moves);
// Both planes have (height, width). The last cell that shows a pixel counts.
void displace_by_mesh(const MeshRule::Coef& c, const std::vector<double>& cells, float* dx, float* dy);

}  // namespace penstock
