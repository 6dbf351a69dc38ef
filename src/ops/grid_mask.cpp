// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "operator/image_work.h"

namespace penstock {

struct GridMaskRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        double cosine, sine, shift_x, shift_y, tile, black;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const double x = static_cast<double>(p.x), y = static_cast<double>(p.y);
        const double u = c.cosine * x - c.sine * y - c.shift_x, v = c.sine * x + c.cosine * y - c.shift_y;
        const bool masked = u - c.tile * floor(u / c.tile) < c.black && v - c.tile * floor(v / c.tile) < c.black;
        const int64_t i = offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner);
        return masked ? static_cast<Out>(0.0f) : static_cast<Out>(in[i]);
      });
};

struct GridMask : ImageOperator {
  PerSample<int> tile = 100;
  PerSample<float> ratio = 0.5f, angle = 0.0f, shift_x = 0.0f, shift_y = 0.0f;

  static Schema<GridMask> schema() {
    using Op = GridMask;
    return Schema<Op>("grid_mask",
                      "Sets the squares of a grid to 0 (Chen et al., \"GridMask data augmentation\", 2020).\n\nThe "
                      "coordinates (x, y) of a pixel are rotated by the angle, then the shift is subtracted. The pixel "
                      "becomes 0 if both results, modulo the tile, are less than ratio * tile. Layouts: any with H and "
                      "W; the output keeps the layout. Types: all.")
        .arg("tile", &Op::tile, "The period of the grid in pixels, greater than 0.")
        .arg("ratio", &Op::ratio, "The side of a square as a fraction of the tile.")
        .arg("angle", &Op::angle, "Radians.")
        .arg("shift_x", &Op::shift_x, "Shift of the grid along x, in pixels.")
        .arg("shift_y", &Op::shift_y, "Shift of the grid along y, in pixels.")
        .float64("rotated coordinates, because float32 would decide otherwise near the edges of squares")
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int t = tile[s.index];
    const double a = angle[s.index], dx = shift_x[s.index], dy = shift_y[s.index];
    if (t <= 0) bad_argument("tile must be positive, got {}", t);
    for (double v : {a, dx, dy})
      if (!(std::fabs(v) < 1e9)) bad_argument("angle and shifts must be less than 1e9 in magnitude, got {}", v);
    const float black = ratio[s.index] * static_cast<float>(t);
    const GridMaskRule::Coef c{
        image_extents(in[0].shape, in[0].layout), cos(a), sin(a), dx, dy, static_cast<double>(t), black};
    map_image<GridMaskRule>(in[0], out[0], c, to);
  }
};
PENSTOCK_OPERATOR(GridMask);

}  // namespace penstock
