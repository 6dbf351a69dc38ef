// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <vector>

#include "families/mask/mask.h"
#include "operator/image_work.h"

namespace penstock {

struct GridMaskRule {
  PENSTOCK_PIXEL(
      struct Coef {
        double cosine, sine, shift_x, shift_y, tile, black;
        double per_tile;  // 1 / tile
      };
      PENSTOCK_INLINE static bool masked(double x, double y, const Coef& c) {
        const double u = c.cosine * x - c.sine * y - c.shift_x;
        const double v = c.sine * x + c.cosine * y - c.shift_y;
        return (u - c.tile * floor(u / c.tile) < c.black) & (v - c.tile * floor(v / c.tile) < c.black);
      }
      // u modulo the tile is less than black. A product tells how many tiles u has, except near a whole number of them;
      // its error is below 2e-6, since images and shifts are less than 2^32.
      PENSTOCK_INLINE static bool in_square(double u, const Coef& c) {
        const double about = u * c.per_tile;
        double tiles = floor(about);
        const double part = about - tiles;
        if ((part < 1e-5) | (part > 1 - 1e-5)) tiles = floor(u / c.tile);
        return u - c.tile * tiles < c.black;
      }
      // The same as masked().
      PENSTOCK_INLINE static bool clears(double x, double y, const Coef& c) {
        return in_square(c.cosine * x - c.sine * y - c.shift_x, c) &&
               in_square(c.sine * x + c.cosine * y - c.shift_y, c);
      });
};

namespace {
#define PENSTOCK_LOOPS grid
#define PENSTOCK_LOOPS_TEXT "ops/shared/grid_mask.inc.h"
#include "base/foreach_target.h"

// The rule by rows: runs of pixels are copied, or become 0, which is all bits 0 in every type.
void mask_rows(const View& in, const View& out, const GridMaskRule::Coef& c) {
  const ImageRule::Extents e = image_extents(in.shape, in.layout);
  const auto pixel = e.inner * static_cast<int64_t>(size_of(in.dtype)), row = e.width * pixel;
  const Target target = best_target();
  std::vector<uint8_t> masked(static_cast<size_t>(e.width));
  for (int64_t y = 0; y < e.height; ++y) {
    PENSTOCK_FOR_TARGET(target, grid, mask_row(c, e.width, y, masked.data()));
    for (int64_t image = 0; image < e.outer * e.depth; ++image) {
      const int64_t at = (image * e.height + y) * row;
      const char* from = in.as<char>() + at;
      char* to = out.as<char>() + at;
      for (int64_t x = 0, end; x < e.width; x = end) {
        for (end = x + 1; end < e.width && masked[end] == masked[x];) ++end;
        const auto bytes = static_cast<size_t>((end - x) * pixel);
        if (masked[x]) std::memset(to + x * pixel, 0, bytes);
        else std::memcpy(to + x * pixel, from + x * pixel, bytes);
      }
    }
  }
}
}  // namespace

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
        .keeps_positions()
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
    const GridMaskRule::Coef c{cos(a), sin(a), dx, dy, static_cast<double>(t), black, 1.0 / t};
    if (out[0].volume() == 0) return;
    const auto host = [=, from = in[0], made = out[0]] { mask_rows(from, made, c); };
    mask::keep_or_clear<GridMaskRule>(in[0], out[0], c, to, host);
  }
};
PENSTOCK_OPERATOR(GridMask);

}  // namespace penstock
