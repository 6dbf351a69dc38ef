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
  int words = 0;  // of bytes: that a thread folds down at once
};

inline void describe(FoldRow& row, const Window& w, const Reach& x, const Reach& y) {
  row.height = w.image.height, row.width = w.image.width, row.channels = w.image.inner;
  row.left = static_cast<int32_t>(x.before), row.above = static_cast<int32_t>(y.before);
  row.window_width = static_cast<int32_t>(x.count), row.window_height = static_cast<int32_t>(y.count);
  row.border = w.border;
}

// The tiles with the least work for an element of the output.
inline FoldTiles fold_tiles(const Window& w, size_t lane_bytes) {
  const Reach x = seen(w.image.width, w.width, w.x, w.border), y = seen(w.image.height, w.height, w.y, w.border);
  const int64_t length = w.image.width * w.image.inner, beyond = (x.count - 1) * w.image.inner;
  const int64_t most = static_cast<int64_t>((kBlockBytes - sizeof(int64_t)) / lane_bytes);
  const auto parts = [](int64_t n, int64_t of) { return (n + of - 1) / of; };
  FoldTiles t;
  double least = 0;
  for (const int64_t wide : {256, 128, 64, 32}) {
    if (beyond > most || y.count > most) break;
    const int64_t lanes = kFoldRows * fold_row_stride(wide + beyond) + (y.count + 1) * wide;
    const int64_t across = parts(length, wide);
    if (lanes > most) continue;
    // Across, all threads work; down, as many as there are columns.
    const double work = static_cast<double>(across * (wide + beyond + 128)) / static_cast<double>(length);
    if (t.count > 0 && work >= least) continue;
    least = work;
    // A strip reads as many rows as a window has beside those that it makes: a quarter more.
    const int64_t high =
        std::min(parts(std::max<int64_t>(4 * (y.count - 1), 32), kFoldRows) * kFoldRows, w.image.height);
    t.row.tile_width = static_cast<int32_t>(wide), t.row.tile_height = static_cast<int32_t>(high);
    t.row.tiles_across = across, t.row.tiles_down = parts(w.image.height, high);
    t.count = across * t.row.tiles_down * w.image.outer;
    t.shared_bytes = static_cast<size_t>(lanes) * lane_bytes + sizeof(int64_t);
  }
  if (t.count > 0) describe(t.row, w, x, y);
  return t;
}

// Tiles for bytes: those with the least work of a warp, in instructions for a byte.
inline FoldTiles fold_byte_tiles(const Window& w) {
  constexpr int64_t kMost = int64_t{1} << 30, kSpare = 2 * kVectorBytes, kWarps = kThreads / 32;
  const Reach x = seen(w.image.width, w.width, w.x, w.border), y = seen(w.image.height, w.height, w.y, w.border);
  const int64_t inner = w.image.inner, left = x.before * inner, right = (x.count - 1) * inner - left;
  FoldTiles t;
  if (inner > kMost / w.image.width || w.image.height > kMost || left + right > static_cast<int64_t>(kBlockBytes))
    return t;
  const int64_t length = w.image.width * inner;
  const int64_t beside = whole_vectors(static_cast<int>(left)) + whole_vectors(static_cast<int>(right));
  const auto parts = [](int64_t n, int64_t of) { return (n + of - 1) / of; };
  int64_t passes = 1;
  for (int64_t n = 3; n < x.count; n *= 3) ++passes;
  double least = 0;
  for (const int64_t columns : {512, 1024, 2048, 4096}) {
    if (columns <= beside) continue;
    const int64_t width = whole_vectors(static_cast<int>(parts(length, parts(length, columns - beside))));
    const int64_t across = parts(length, width);
    const int64_t stride = folded_columns(static_cast<int>(left), static_cast<int>(width), static_cast<int>(right));
    const int64_t fit = (static_cast<int64_t>(kBlockBytes) - kSpare) / stride;
    for (int64_t blocks = 1; blocks == 1 || (blocks * y.count <= fit && blocks <= 16); ++blocks) {
      const int64_t rows = std::min({blocks * y.count, fit, w.image.height}), down = parts(w.image.height, rows);
      if (rows < 1 || across * down > kMost / w.image.outer) continue;
      for (const int words : {4, 1}) {
        const int64_t items = stride / (4 * words) * parts(rows, y.count);
        const int64_t read = y.count + std::min(rows, y.count) - 1;
        // Measured on an H200: a row's pass takes as long as 60 instructions more.
        const int64_t work = parts(items, kThreads) * kWarps * (read * (words == 4 ? 35 : 10) + 20) +
                             parts(rows, kWarps) * kWarps * passes * (parts(stride, 512) * 50 + 60);
        const double each = static_cast<double>(work) / static_cast<double>(width * rows);
        if (t.count > 0 && each >= least) continue;
        least = each;
        t.row.tile_width = static_cast<int32_t>(width), t.row.tile_height = static_cast<int32_t>(rows);
        t.row.tiles_across = across, t.row.tiles_down = down;
        t.count = across * down * w.image.outer;
        t.shared_bytes = static_cast<size_t>(stride * rows + kSpare);
        t.words = words;
      }
    }
  }
  if (t.count > 0) describe(t.row, w, x, y);
  return t;
}

}  // namespace penstock::window
