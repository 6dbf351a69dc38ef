// SPDX-License-Identifier: Apache-2.0
// The displacements of warp_by_points: the rule for a GPU, and all rows on the host.
#pragma once
#include "pixel/math.h"
#include "pixel/transcendental.h"

namespace penstock {

struct PointsRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int32_t height;
        int32_t width;
        int32_t count;   // points: x, y, and their factors, or their targets
        int32_t spline;  // else inverse distances
        double shift;    // from the index of a pixel to its position
        double unit_x;   // from pixels to the unit of positions
        double unit_y;
        double plane_x[3];  // what the spline adds: constant, times x, times y
        double plane_y[3];
      };
      PENSTOCK_LOOPED static double square(double x, double y) { return x * x + y * y; }
      // r^2 log(r), of r^2.
      PENSTOCK_LOOPED static double bend(double square) {
        const double bent = square * log(square) * 0.5;
        return square > 0.0 ? bent : 0.0;
      } PENSTOCK_LOOPED static double nearness(double square) {
        return 1.0 / (square + 1e-8);
      } PENSTOCK_LOOPED static float in_pixels(double sum, double whole, double u, double v, const double* plane,
                                               double unit, int32_t spline) {
        const double by = spline ? sum + (plane[0] + plane[1] * u + plane[2] * v) : sum / whole;
        return static_cast<float>(by / unit);
      } PENSTOCK_HD static float displacement(int64_t i, const Coef& c, const double* points) {
        const int64_t plane = int64_t{c.height} * c.width;
        const bool along_y = i >= plane;
        const int64_t pixel = along_y ? i - plane : i;
        const int64_t row = pixel / c.width;
        const double u = (static_cast<double>(pixel - row * c.width) + c.shift) * c.unit_x;
        const double v = (static_cast<double>(row) + c.shift) * c.unit_y;
        double sum = 0;
        double whole = 0;
        for (int32_t k = 0; k < c.count; ++k) {
          const double* p = points + int64_t{4} * k;
          const double by = along_y ? p[3] : p[2];
          const double far = square(u - p[0], v - p[1]);
          if (c.spline) {
            sum += bend(far) * by;
          } else {
            const double near = nearness(far);
            sum += near * (by - (along_y ? v : u));
            whole += near;
          }
        }
        return along_y ? in_pixels(sum, whole, u, v, c.plane_y, c.unit_y, c.spline)
                       : in_pixels(sum, whole, u, v, c.plane_x, c.unit_x, c.spline);
      });
};

// `points`: four numbers each. Both planes have (height, width).
void displace_by_points(const PointsRule::Coef& c, const double* points, float* dx, float* dy);

}  // namespace penstock
