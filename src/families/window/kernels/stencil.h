// SPDX-License-Identifier: Apache-2.0
// Rules over neighborhoods on a GPU: a block has a tile of the input with what its windows see in shared memory, as
// float32. The rule runs for each element of the tile, and reads its neighbors there.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "families/window/kernels/load_rows.h"
#include "launch/entry.h"
#include "pixel/math.h"
#include "pixel/stored.h"

namespace penstock::window {

// Elements of a row are its pixels with their channels.
template <class Coef> struct StencilRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  int64_t tiles_across, tiles_down;  // of an image
  int32_t left, above;               // pixels that a window reaches so far
  int32_t window_width, window_height;
  int32_t tile_width, tile_height;  // in elements
  int32_t border;
  int32_t unused;
  Coef coef;
};
static_assert(sizeof(StencilRow<int64_t>) == 96);

// The neighbors of an element of a tile.
struct TileNeighbors {
  const float* center;
  int row, pixel;  // distances
  PENSTOCK_HD float operator()(int dy, int dx) const { return center[dy * row + dx * pixel]; }
};

// Units of work are tiles. Rule: bordered() of ImageRule, Coef and result().
template <class In, class Out, class Rule>
PENSTOCK_KERNEL void stencil(const Entry<StencilRow<typename Rule::Coef>>& e) {
  const auto& r = e.row;
  const int channels = static_cast<int>(r.channels), wide = r.tile_width, high = r.tile_height;
  const int columns = wide + (r.window_width - 1) * channels, rows = high + r.window_height - 1;
  const int64_t length = r.width * r.channels;
  const typename Rule::Coef coef = r.coef;
  float* const tile = shared_memory<float>();
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x0 = i % r.tiles_across * wide, y0 = i / r.tiles_across % r.tiles_down * high;
    const int64_t image = i / r.tiles_across / r.tiles_down * r.height * length;
    load_rows<Rule>(tile, static_cast<const In*>(r.in) + image, r, x0 - r.left * channels, y0 - r.above, columns, rows,
                    [](In v) { return static_cast<float>(v); });
    Out* const out = static_cast<Out*>(r.out) + image;
    const float* const first = tile + r.above * columns + r.left * channels;
    PENSTOCK_UNROLL_BY(1)
    for (int item = thread(); item < wide * high; item += threads()) {
      const int row = item / wide, column = item - row * wide;
      const int64_t x = x0 + column, y = y0 + row;
      if (x >= length || y >= r.height) continue;
      const TileNeighbors near{first + row * columns + column, columns, channels};
      out[y * length + x] = stored<Out>(Rule::template result<float>(near, coef));
    }
    wait_for_block();
  }
}

}  // namespace penstock::window
