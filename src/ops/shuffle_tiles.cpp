// SPDX-License-Identifier: Apache-2.0
#include "batch/view_part.h"
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"
#include "ops/shared/tile_order.h"

namespace penstock {

struct ShuffleTiles : SameImage, TileArguments {
  static Schema<ShuffleTiles> schema() {
    return Schema<ShuffleTiles>(
               "shuffle_tiles",
               "Cuts images into tiles and puts each at the place of another one of its size.\n\nMasks of a Sample "
               "follow; points go with their tile, also those on its left or upper border; a box becomes one box for "
               "each connected part of what it had, with its labels. Layouts: HW, HWC, CHW, each also with a leading "
               "F; the "
               "output keeps the layout. Types: all.\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> "
               "result = fn.shuffle_tiles(image, columns=[0, 32, 64], rows=[0, 24, 48], order=[1, 0, 3, 2])")
        .with(&tile_arguments<ShuffleTiles>)
        .oracle("numpy");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    View from = in[0];
    from.layout = out[0].layout;
    const int h = from.layout.find('H');
    for (const TileMove& m : moves(s.index, from.shape[h], from.shape[h + 1])) {
      const View tile = part(part(from, h, m.top, m.height), h + 1, m.left, m.width);
      if (tile.volume() > 0) to.copy(tile, part(part(out[0], h, m.new_top, m.height), h + 1, m.new_left, m.width));
    }
  }
  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    for (const TileMove& m : moves(s.index, height, width))
      for (int64_t y = m.new_top; y < m.new_top + m.height; ++y) {
        std::fill_n(dx + y * width + m.new_left, m.width, static_cast<float>(m.left - m.new_left));
        std::fill_n(dy + y * width + m.new_left, m.width, static_cast<float>(m.top - m.new_top));
      }
  }
};
PENSTOCK_OPERATOR(ShuffleTiles);
PENSTOCK_DISPLACEMENTS(ShuffleTiles);

}  // namespace penstock
