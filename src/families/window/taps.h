// SPDX-License-Identifier: Apache-2.0
// How the kernel of weighted sums divides an image into tiles.
#pragma once
#include <cmath>
#include <optional>

#include "families/window/byte_images.h"
#include "families/window/element_images.h"
#include "families/window/geometry.h"
#include "families/window/kernels/taps.h"
#include "families/window/kernels/taps_elements.h"
#include "families/window/kernels/taps_of_bytes.h"
#include "families/window/kernels/taps_rows.h"
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

// Odd squares from 3 x 3 on around each element of the image.
inline bool around_middle(const Taps& w) {
  return w.width == w.height && w.width >= 3 && w.width % 2 == 1 && w.x == w.width / 2 && w.y == w.width / 2 &&
         w.in.width == w.out.width && w.in.height == w.out.height;
}

// The kernel of taps_of_bytes.h: its row, its work, and its numbers. Nothing where the weights are not small and whole,
// or the window is not 3 x 3 or 5 x 5 around an element. Outside of a constant border there is 0.
struct ByteTaps {
  ByteTapsRow row{};
  int64_t work = 0;
  int aligned = 0, size = 0, known = 0;
  size_t shared_bytes = 0;
};
inline ByteTaps byte_taps(const void* in, const void* out, const Taps& w, const float* weights) {
  ByteTaps t;
  if (!around_middle(w) || w.width > kMostByteTaps || w.fill) return t;
  const int size = static_cast<int>(w.width);
  float most = 0;
  bool mirrored = true;
  for (int i = 0; i < size * size; ++i) {
    most += std::fabs(weights[i]) * 255;
    if (!(most <= 32767) || weights[i] != std::nearbyint(weights[i])) return t;  // sums of bytes fit int16
    t.row.weights[i] = static_cast<int32_t>(weights[i]);
    mirrored &= weights[i] == weights[(size - 1 - i / size) * size + i % size];
  }
  t.known = mirrored ? kMirrored : 0;
  for (int i = 0; i < (mirrored ? size / 2 + 1 : size) * size; ++i) t.known |= (weights[i] != 0) << i;
  const ByteImages images = byte_images(in, out, w.in, w.border);
  t.row.rows = images.rows, t.work = images.work, t.aligned = images.aligned, t.size = size;
  t.shared_bytes = images.shared_bytes;
  return t;
}

// The step of the sums, which are in float32; nothing for other types and for windows that no block has memory for.
inline std::optional<KernelStep> taps_step(const View& in, const View& out, const Taps& w,
                                           std::shared_ptr<const std::vector<std::byte>> own_weights) {
  if (size_of(in.dtype) > 2 && in.dtype != DType::float32) return {};
  if (own_weights && in.dtype == DType::uint8 && out.dtype == DType::uint8) {
    const ByteTaps bytes = byte_taps(in.data, out.data, w, reinterpret_cast<const float*>(own_weights->data()));
    if (bytes.work > 0)
      return KernelStep{{"families/window/kernels/taps_of_bytes.h",
                         "window::taps_of_bytes",
                         {},
                         {static_cast<int>(w.in.inner), bytes.aligned, bytes.size, bytes.known},
                         &taps_rule_text},
                        row_bytes(bytes.row),
                        bytes.work,
                        bytes.shared_bytes,
                        nullptr,
                        0,
                        nullptr};
  }
  if (in.dtype == DType::uint8 && out.dtype == DType::uint8 && around_middle(w) && w.width <= kMostRowTaps) {
    const ByteImages images = byte_images(in.data, out.data, w.in, w.border);
    if (images.work > 0)
      return KernelStep{{"families/window/kernels/taps_rows.h",
                         "window::taps_rows",
                         {},
                         {static_cast<int>(w.in.inner), images.aligned, static_cast<int>(w.width)},
                         &taps_rule_text},
                        row_bytes(RowTapsRow{images.rows, w.weights, {}, w.fill}),
                        images.work,
                        images.shared_bytes,
                        std::move(own_weights),
                        offsetof(RowTapsRow, own_weights),
                        nullptr};
  }
  if (around_middle(w) && w.width == 3) {
    const ElementImages images =
        element_images(in.data, size_of(in.dtype), out.data, size_of(out.dtype), w.in, w.border);
    if (images.work > 0)
      return KernelStep{{"families/window/kernels/taps_elements.h",
                         "window::taps_elements",
                         {in.dtype, out.dtype},
                         {static_cast<int>(w.in.inner), images.aligned},
                         &taps_rule_text},
                        row_bytes(ElementTapsRow{images.rows, w.weights, {}, w.fill}),
                        images.work,
                        0,
                        std::move(own_weights),
                        offsetof(ElementTapsRow, own_weights),
                        nullptr};
  }
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
