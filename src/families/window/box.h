// SPDX-License-Identifier: Apache-2.0
// Means of rectangles, in a time that does not grow with their area: of integers it grows with the logarithm of the
// width, of floating point with those of both extents. kernels/box.h says what a mean is.
#pragma once
#include "families/window/box_rows.h"
#include "families/window/box_twin.h"

namespace penstock::window {

inline std::string box_rule_text() { return ImageRule::image_text; }

// The mean of the window around each element of `in`, which `out` has the shape and the type of; boxed(). Outside a
// constant border is 0. The window has less than 2^23 elements.
inline void box_window(const View& in, const View& out, Window w, SampleWork& to) {
  if (out.volume() == 0) return;
  w.image.outer *= w.image.depth, w.image.depth = 1;
  const auto host = [=] { box_rows(best_target(), in.dtype, in.data, out.data, w); };
  const bool integers = in.dtype != DType::float32 && in.dtype != DType::float16;
  BoxTiles tiles = box_tiles(w, integers);
  if (tiles.count == 0 || (integers && !box_fits(w, size_of(in.dtype)))) {
    const BoxTwin::Coef coef{w.image, w.width, w.height, w.x, w.y, box_mean_of(w, false).factor, w.border};
    to.map(in, out, {&image_rule_text<BoxTwin>, coef_bytes_of(coef), nullptr, nullptr, host});
    return;
  }
  tiles.row.in = in.data, tiles.row.out = out.data;
  to.kernel({{"families/window/kernels/box.h", "window::box", {in.dtype}, {}, &box_rule_text, 1},
             row_bytes(tiles.row),
             tiles.count,
             tiles.shared_bytes,
             nullptr,
             0,
             host});
}

}  // namespace penstock::window
