// SPDX-License-Identifier: Apache-2.0
// How the kernel of folds divides an image into tiles.
#pragma once
#include "families/window/geometry.h"
#include "families/window/kernels/fold.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// The row of a kernel without its addresses; nothing where no block has the memory for the window.
struct FoldTiles {
  FoldRow row{};
  int64_t count = 0;
  size_t shared_bytes = 0;
};

// The tiles with the fewest elements to read for one of the output.
inline FoldTiles fold_tiles(const Window& w, size_t lane_bytes) {
  const Reach x = seen(w.image.width, w.width, w.x, w.border), y = seen(w.image.height, w.height, w.y, w.border);
  const int64_t most = static_cast<int64_t>(kBlockBytes / (2 * lane_bytes));  // a tile before and after a join
  FoldTiles t;
  double least = 0;
  for (const int64_t wide : {128, 64, 32})
    for (const int64_t high : {32, 16, 8}) {
      const int64_t columns = wide + (x.count - 1) * w.image.inner, rows = high + y.count - 1;
      if (columns > most / rows) continue;
      double read = static_cast<double>(columns * rows) / static_cast<double>(wide * high);
      if (2 * columns * rows > most) read *= 1.3;  // several blocks at once hide the memory's latency
      if (t.count > 0 && read >= least) continue;
      least = read;
      t.row.tile_width = static_cast<int32_t>(wide), t.row.tile_height = static_cast<int32_t>(high);
      t.row.tiles_across = (w.image.width * w.image.inner + wide - 1) / wide;
      t.row.tiles_down = (w.image.height + high - 1) / high;
      t.count = t.row.tiles_across * t.row.tiles_down * w.image.outer;
      t.shared_bytes = static_cast<size_t>(2 * columns * rows) * lane_bytes;
    }
  if (t.count == 0) return t;
  t.row.height = w.image.height, t.row.width = w.image.width, t.row.channels = w.image.inner;
  t.row.left = static_cast<int32_t>(x.before), t.row.above = static_cast<int32_t>(y.before);
  t.row.window_width = static_cast<int32_t>(x.count), t.row.window_height = static_cast<int32_t>(y.count);
  t.row.border = w.border;
  return t;
}

}  // namespace penstock::window
