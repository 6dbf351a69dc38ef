// SPDX-License-Identifier: Apache-2.0
// How the kernel of folds divides an image into tiles.
#pragma once
#include "families/window/geometry.h"
#include "families/window/byte_images.h"
#include "families/window/kernels/fold.h"
#include "families/window/kernels/fold_bytes.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// The row of a kernel without its addresses; nothing where no block has the memory for the window.
struct FoldTiles {
  FoldRow row{};
  int64_t count = 0;
  size_t shared_bytes = 0;
};

inline void describe(FoldRow& row, const Window& w, const Reach& x, const Reach& y) {
  row.height = w.image.height, row.width = w.image.width, row.channels = w.image.inner;
  row.left = static_cast<int32_t>(x.before), row.above = static_cast<int32_t>(y.before);
  row.window_width = static_cast<int32_t>(x.count), row.window_height = static_cast<int32_t>(y.count);
  row.border = w.border;
}

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
  if (t.count > 0) describe(t.row, w, x, y);
  return t;
}

// Tiles for bytes. A block has those of a few windows' heights; warps read 512 columns at once.
inline FoldTiles fold_byte_tiles(const Window& w) {
  constexpr int64_t kMost = int64_t{1} << 30, kSpare = 2 * kVectorBytes;
  const Reach x = seen(w.image.width, w.width, w.x, w.border), y = seen(w.image.height, w.height, w.y, w.border);
  const int64_t inner = w.image.inner, left = x.before * inner, right = (x.count - 1) * inner - left;
  FoldTiles t;
  if (inner > kMost / w.image.width || w.image.height > kMost || left + right > static_cast<int64_t>(kBlockBytes)) return t;
  const int64_t length = w.image.width * inner;
  double least = 0;
  for (const int64_t columns : {512, 1024, 2048, 4096}) {
    const int64_t beside = whole_vectors(static_cast<int>(left)) + whole_vectors(static_cast<int>(right));
    const int64_t width = std::min<int64_t>(columns - beside, whole_vectors(static_cast<int>(length)));
    if (width <= 0) continue;
    const int64_t stride = folded_columns(static_cast<int>(left), static_cast<int>(width), static_cast<int>(right));
    const int64_t fit = (static_cast<int64_t>(kBlockBytes) - kSpare) / stride, few = (kBlockBytes * 3 / 4) / stride;
    const int64_t rows = std::min(y.count > fit ? fit : std::max(few / y.count, int64_t{1}) * y.count, w.image.height);
    if (rows < 1) continue;
    const double read = static_cast<double>(stride) / static_cast<double>(width) *
                        static_cast<double>(y.count + std::min(rows, y.count) - 1) /
                        static_cast<double>(std::min(rows, y.count));
    const int64_t down = (w.image.height + rows - 1) / rows, across = (length + width - 1) / width;
    if ((t.count > 0 && read >= least) || across * down > kMost / w.image.outer) continue;
    least = read;
    t.row.tile_width = static_cast<int32_t>(width), t.row.tile_height = static_cast<int32_t>(rows);
    t.row.tiles_across = across, t.row.tiles_down = down;
    t.count = across * down * w.image.outer;
    t.shared_bytes = static_cast<size_t>(stride * rows + kSpare);
  }
  if (t.count > 0) describe(t.row, w, x, y);
  return t;
}

}  // namespace penstock::window
