// SPDX-License-Identifier: Apache-2.0
// Folds over windows on a GPU: a block folds a tile of the output from its elements and those around it in shared
// memory, across and then down, by joining windows of 1, 3, 9, ... elements. As fold_rows.h.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "launch/entry.h"
#include "pixel/extremes.h"

namespace penstock::window {

using namespace whole;

// Elements of a row are its pixels with their channels.
struct FoldRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  int64_t tiles_across, tiles_down;  // of an image
  int32_t left, above;               // pixels that a window reaches so far
  int32_t window_width, window_height;
  int32_t tile_width, tile_height;  // in elements
  int32_t border;
};
static_assert(sizeof(FoldRow) == 88);

// What is folded: float32 for float16, and bytes for bool.
template <class T> struct FoldedLane {
  using type = T;
};
template <> struct FoldedLane<Half> {
  using type = float;
};
template <> struct FoldedLane<bool> {
  using type = uint8_t;
};
template <class T> using LaneOf = typename FoldedLane<T>::type;
template <class T> constexpr bool kHasNan = std::is_floating_point_v<LaneOf<T>>;

// Where the element is that is seen at (x, y), which may lie outside of the image; -1: none. Not inlined: few are
// outside, and a compiler takes long for the divisions of borders.
template <class Rule>
__attribute__((noinline)) PENSTOCK_HD int64_t seen_element(const FoldRow& r, int64_t x, int64_t y, int border) {
  // As many pixels as a window reaches to the left keep the division positive.
  const int64_t pixel = (x + r.left * r.channels) / r.channels - r.left;
  const int64_t from = Rule::bordered(pixel, r.width, border);
  y = Rule::bordered(y, r.height, border);
  return from < 0 || y < 0 ? -1 : (y * r.width + from - pixel) * r.channels + x;
}

// The tile with all that its windows see. NaN becomes the identity.
template <class T, class Rule> PENSTOCK_KERNEL void load_tile(LaneOf<T>* tile, const T* in, const FoldRow& r,
                                                              int64_t x0, int64_t y0, int columns, int rows) {
  using L = LaneOf<T>;
  const int64_t length = r.width * r.channels;
  for (int item = thread(); item < columns * rows; item += threads()) {
    const int row = item / columns;
    const int64_t x = x0 + (item - row * columns), y = y0 + row;
    const bool inside = static_cast<uint64_t>(x) < static_cast<uint64_t>(length) &&
                        static_cast<uint64_t>(y) < static_cast<uint64_t>(r.height);
    const int64_t at = inside ? y * length + x : seen_element<Rule>(r, x, y, r.border);
    L v = Rule::template identity<L>();
    if (at >= 0) {
      const L read = static_cast<L>(in[at]);
      if (read == read) v = read;
    }
    tile[item] = v;
  }
  wait_for_block();
}

// Windows of n elements that are `step` apart, of the first `count` elements of `from`; the result is in `from`.
template <class Rule, class L> PENSTOCK_KERNEL void fold_tile(L*& from, L*& to, int n, int step, int count) {
  for (int w = 1; w < n;) {
    const int next = 3 * w < n ? 3 * w : n, third = (next - w) * step;
    const int second = next <= 2 * w ? third : (next - w) / 2 * step;
    count -= third;
    for (int item = thread(); item < count; item += threads())
      to[item] = Rule::combine(Rule::combine(from[item], from[item + second]), from[item + third]);
    wait_for_block();
    L* const t = from;
    from = to, to = t;
    w = next;
  }
}

// Units of work are tiles. Rule: bordered() of ImageRule, identity() and combine().
template <class T, class Rule> PENSTOCK_KERNEL void fold(const Entry<FoldRow>& e) {
  using L = LaneOf<T>;
  const FoldRow r = e.row;
  const int channels = static_cast<int>(r.channels);
  const int columns = r.tile_width + (r.window_width - 1) * channels, rows = r.tile_height + r.window_height - 1;
  const int64_t length = r.width * r.channels;
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x0 = i % r.tiles_across * r.tile_width, y0 = i / r.tiles_across % r.tiles_down * r.tile_height;
    const int64_t image = i / r.tiles_across / r.tiles_down * r.height * length;
    const T* in = static_cast<const T*>(r.in) + image;
    T* out = static_cast<T*>(r.out) + image;
    L *from = shared_memory<L>(), *to = from + columns * rows;
    load_tile<T, Rule>(from, in, e.row, x0 - r.left * channels, y0 - r.above, columns, rows);
    fold_tile<Rule>(from, to, r.window_width, channels, columns * rows);
    fold_tile<Rule>(from, to, r.window_height, columns, columns * rows - (r.window_width - 1) * channels);
    for (int item = thread(); item < r.tile_width * r.tile_height; item += threads()) {
      const int row = item / r.tile_width, column = item - row * r.tile_width;
      const int64_t x = x0 + column, y = y0 + row;
      if (x >= length || y >= r.height) continue;
      T v = static_cast<T>(from[row * columns + column]);
      if constexpr (kHasNan<T>) {  // it is the result where it is seen first
        const int64_t sx = x - r.left * channels, sy = y - r.above;
        const T first =
            in[sx < 0 || sy < 0 ? seen_element<Rule>(e.row, sx, sy, r.border ? r.border : 1) : sy * length + sx];
        if (first != first) v = first;
      }
      out[y * length + x] = v;
    }
    wait_for_block();
  }
}

}  // namespace penstock::window
