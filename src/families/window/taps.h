// SPDX-License-Identifier: Apache-2.0
// How the kernel of weighted sums divides an image into tiles.
#pragma once
#include <optional>

#include "families/window/geometry.h"
#include "families/window/kernels/taps.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// A window whose result may be smaller than the image. No depth.
struct Taps {
  ImageRule::Extents in, out;
  int64_t width, height, x, y;  // as those of Window
  int border;
  const float* weights;  // row by row; null: those in the data
  const void* fill;      // one element of the input's type for a constant border; null: 0
};

// The row of a kernel without its addresses; nothing where no block has the memory for the window.
struct TapsTiles {
  TapsRow row{};
  int64_t count = 0;
  size_t shared_bytes = 0;
};

// The tiles with the least work, in instructions of a thread.
inline TapsTiles taps_tiles(const Taps& w, size_t out_bytes) {
  constexpr int64_t kMost = kBlockBytes / sizeof(float);
  TapsTiles t;
  const int64_t inner = w.in.inner, rows = kTapRows + w.height - 1;
  if (w.width > kMost || w.height > kMost || inner > kMost || w.width * w.height > kMost) return t;
  if (w.out.height < kTapRows / 2) return t;  // most lanes would have no row
  int64_t least = 0;
  for (int64_t wide = 128; wide >= kTapSums; wide /= 2) {
    const int64_t columns = (wide + w.width - 1) * inner;
    if (columns > kMost || columns * rows > kMost) continue;
    const int64_t numbers = taps_stride(static_cast<int>(columns)) * rows + w.width * w.height;
    const int64_t bytes = numbers * static_cast<int64_t>(sizeof(float)) +
                          kTapRows * taps_out_stride(static_cast<int>(wide * inner) * static_cast<int>(out_bytes));
    if (bytes > static_cast<int64_t>(kBlockBytes)) continue;
    const int64_t across = (w.out.width + wide - 1) / wide;
    const int64_t turns = (wide / kTapSums * inner + kTapWarps - 1) / kTapWarps;
    const int64_t work = across * (10 * columns * rows + turns * kThreads * kTapSums * (2 * w.width * w.height + 10));
    if (t.count > 0 && work >= least) continue;
    least = work;
    t.row.tile_width = static_cast<int32_t>(wide);
    t.row.tiles_across = across, t.row.tiles_down = (w.out.height + kTapRows - 1) / kTapRows;
    t.count = across * t.row.tiles_down * w.out.outer;
    t.shared_bytes = static_cast<size_t>(bytes);
  }
  if (t.count == 0) return t;
  t.row.height = w.in.height, t.row.width = w.in.width, t.row.channels = inner;
  t.row.out_height = w.out.height, t.row.out_width = w.out.width;
  t.row.left = static_cast<int32_t>(w.x), t.row.above = static_cast<int32_t>(w.y);
  t.row.window_width = static_cast<int32_t>(w.width), t.row.window_height = static_cast<int32_t>(w.height);
  t.row.border = w.border;
  t.row.weights = w.weights, t.row.fill = w.fill;
  return t;
}

// Widths that a kernel is compiled for; 0: any.
inline int known_taps(int64_t width) { return width == 3 || width == 5 || width == 7 ? static_cast<int>(width) : 0; }

inline std::string taps_rule_text() { return ImageRule::image_text; }

// The step of the sums, which are in float32; nothing for other types and for windows that no block has memory for.
inline std::optional<KernelStep> taps_step(const View& in, const View& out, const Taps& w,
                                           std::shared_ptr<const std::vector<std::byte>> own_weights) {
  if (size_of(in.dtype) > 2 && in.dtype != DType::float32) return {};
  TapsTiles tiles = taps_tiles(w, size_of(out.dtype));
  if (tiles.count == 0) return {};
  tiles.row.in = in.data, tiles.row.out = out.data;
  return KernelStep{{"families/window/kernels/taps.h",
                     "window::taps",
                     {in.dtype, out.dtype},
                     {known_taps(w.width)},
                     &taps_rule_text,
                     1},
                    row_bytes(tiles.row),
                    tiles.count,
                    tiles.shared_bytes,
                    std::move(own_weights),
                    offsetof(TapsRow, own_weights),
                    nullptr};
}

}  // namespace penstock::window
