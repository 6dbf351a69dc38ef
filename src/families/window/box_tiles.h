// SPDX-License-Identifier: Apache-2.0
// How the kernel of means divides an image into tiles.
#pragma once
#include "families/window/geometry.h"
#include "families/window/kernels/box.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// The types that have means: bytes, 16-bit integers, float16 and float32.
inline bool boxed(DType t) { return t != DType::bool_ && (size_of(t) <= 2 || t == DType::float32); }
template <class F> decltype(auto) dispatch_boxed(DType t, F&& f) {
  switch (t) {
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::float16: return f(TypeTag<Half>{});
    default: return f(TypeTag<float>{});
  }
}

inline BoxMean box_mean_of(const Window& w, bool integers) {
  const int64_t n = w.width * w.height;
  const double factor = 1.0 / static_cast<double>(n);
  BoxMean m{static_cast<int32_t>(n), n % 2 == 0, static_cast<float>(integers ? factor * (1 - 0x1p-21) : factor), 0, 0};
  const int64_t most = 255 * n + n / 2;
  for (int shift = 0; shift <= 8 && most < 65536; ++shift) {
    const int64_t one = int64_t{65536} << shift, part = (one + n - 1) / n;
    if (part < 65536 && most * (part * n - one) < one)
      m.part = static_cast<uint16_t>(part), m.shift = static_cast<uint16_t>(shift);
  }
  return m;
}
// Whether 16 bits hold all sums of bytes, and quotients are exact there.
inline bool box_fits_words(const Window& w) { return box_mean_of(w, true).part != 0; }
// Whether int32 holds all sums of elements of so many bytes, and half a count.
inline bool box_fits(const Window& w, size_t element_bytes) {
  return w.width * w.height < (int64_t{1} << 31) / ((int64_t{1} << (8 * element_bytes)) + 1);
}

// The row of a kernel without its addresses; nothing where no block has the memory for the window.
struct BoxTiles {
  BoxRow row{};
  int64_t count = 0;
  size_t shared_bytes = 0;
};

// The tiles with the fewest elements to read for one of the output.
inline BoxTiles box_tiles(const Window& w, bool integers) {
  constexpr int64_t most = kBlockBytes / sizeof(float);
  BoxTiles t;
  double least = 0;
  for (const int bits : {7, 6, 5})
    for (const int64_t high : {32, 16, 8}) {
      const int64_t wide = int64_t{1} << bits, columns = wide + (w.width - 1) * w.image.inner,
                    rows = high + w.height - 1;
      if (columns > most || rows > most || columns > most / rows) continue;
      const int64_t more = w.width > kMostBoxAtOnce ? columns : w.height > kMostBoxAtOnce ? wide : 0;
      const int64_t numbers = (columns + wide + more) * rows;
      if (numbers > most) continue;
      double read = static_cast<double>(columns * rows) / static_cast<double>(wide * high);
      if (2 * numbers > most) read *= 1.3;  // several blocks at once hide the memory's latency
      if (t.count > 0 && read >= least) continue;
      least = read;
      t.row.tile_bits = bits;
      t.row.tile_width = static_cast<int32_t>(wide), t.row.tile_height = static_cast<int32_t>(high);
      t.row.tiles_across = (w.image.width * w.image.inner + wide - 1) / wide;
      t.row.tiles_down = (w.image.height + high - 1) / high;
      t.count = t.row.tiles_across * t.row.tiles_down * w.image.outer;
      t.shared_bytes = static_cast<size_t>(numbers) * sizeof(float);
    }
  if (t.count == 0) return t;
  t.row.height = w.image.height, t.row.width = w.image.width, t.row.channels = w.image.inner;
  t.row.left = static_cast<int32_t>(w.x), t.row.above = static_cast<int32_t>(w.y);
  t.row.window_width = static_cast<int32_t>(w.width), t.row.window_height = static_cast<int32_t>(w.height);
  t.row.border = w.border;
  t.row.mean = box_mean_of(w, integers);
  return t;
}

}  // namespace penstock::window
