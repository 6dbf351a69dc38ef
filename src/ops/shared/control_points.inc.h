// SPDX-License-Identifier: Apache-2.0
// The fields of warp_by_points, included once per target by control_points.cpp. The compiler vectorizes the loops over
// x; the sums of each pixel are in the order of the points, as those of PointsRule::displacement.

inline void displace_row(const PointsRule::Coef& c, const double* points, int32_t y, float* dx, float* dy) {
  constexpr int32_t kBlock = 256;
  const double v = (static_cast<double>(y) + c.shift) * c.unit_y;
  for (int32_t begin = 0; begin < c.width; begin += kBlock) {
    const int32_t n = c.width - begin < kBlock ? c.width - begin : kBlock;
    double u[kBlock], across[kBlock], down[kBlock], whole[kBlock];
    for (int32_t i = 0; i < n; ++i) {
      u[i] = (static_cast<double>(begin + i) + c.shift) * c.unit_x;
      across[i] = down[i] = whole[i] = 0;
    }
    for (int32_t k = 0; k < c.count; ++k) {
      const double* p = points + int64_t{4} * k;
      const double px = p[0], py = p[1], by_x = p[2], by_y = p[3];
      if (c.spline)
        for (int32_t i = 0; i < n; ++i) {
          const double near = PointsRule::bend(PointsRule::square(u[i] - px, v - py));
          across[i] += near * by_x, down[i] += near * by_y;
        }
      else
        for (int32_t i = 0; i < n; ++i) {
          const double near = PointsRule::nearness(PointsRule::square(u[i] - px, v - py));
          across[i] += near * (by_x - u[i]), down[i] += near * (by_y - v), whole[i] += near;
        }
    }
    for (int32_t i = 0; i < n; ++i) {
      dx[begin + i] = PointsRule::in_pixels(across[i], whole[i], u[i], v, c.plane_x, c.unit_x, c.spline);
      dy[begin + i] = PointsRule::in_pixels(down[i], whole[i], u[i], v, c.plane_y, c.unit_y, c.spline);
    }
  }
}
