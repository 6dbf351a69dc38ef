// SPDX-License-Identifier: Apache-2.0
// Folds over windows on a GPU. A block goes down a strip of the image. A warp takes a row and folds it across in shared
// memory, by joining windows of 1, 4, 16, ... elements; then a thread folds each column down. As fold_rows.h.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "launch/entry.h"
#include "launch/global_memory.h"
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

constexpr int kFoldRows = kThreads / 32;  // that a block folds across at once: a warp each

// The threads that take a row together: a warp, or the one thread of a block on the host.
PENSTOCK_KERNEL int row_lanes() {
#ifdef __CUDA_ARCH__
  return 32;
#else
  return threads() < 32 ? static_cast<int>(threads()) : 32;
#endif
}

// Elements of a row of a tile with all that its windows see, and their distance in memory: a warp folds so many at
// once, and reads as many past the last one.
constexpr int kFoldedAtOnce = 96;
PENSTOCK_HD inline int fold_row_columns(const FoldRow& r) {
  return r.tile_width + (r.window_width - 1) * static_cast<int>(r.channels);
}
PENSTOCK_HD constexpr int64_t fold_row_stride(int64_t columns) {
  return (columns + 2 * kFoldedAtOnce - 2) / kFoldedAtOnce * kFoldedAtOnce;
}

// Row y of the image from element x0 on, with all that is seen beside it. A warp takes it. Returns whether this lane
// has read a NaN, which becomes the identity.
template <class T, class Rule> PENSTOCK_KERNEL bool load_row(LaneOf<T>* to, const T* in, const FoldRow& r, int64_t x0,
                                                             int64_t y, int columns) {
  using L = LaneOf<T>;
  const int lanes = row_lanes(), lane = static_cast<int>(thread()) % lanes;
  const int64_t length = r.width * r.channels;
  bool nan = false;
  const auto lane_of = [&](L v) {
    if constexpr (!kHasNan<T>) return v;
    nan |= v != v;
    return v == v ? v : Rule::template identity<L>();
  };
  if (static_cast<uint64_t>(y) < static_cast<uint64_t>(r.height) && x0 >= 0 && x0 + columns <= length) {
    const T* const from = in_global_memory(in + (y * length + x0));
    constexpr int kTogether = sizeof(T) > 4 ? 6 : 12;  // are on their way at once
    PENSTOCK_UNROLL_BY(1)
    for (int c = lane; c < columns; c += lanes * kTogether) {
      T read[kTogether] = {};
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k)
        if (c + lanes * k < columns) read[k] = from[c + lanes * k];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k)
        if (c + lanes * k < columns) to[c + lanes * k] = lane_of(static_cast<L>(read[k]));
    }
    return nan;
  }
  PENSTOCK_UNROLL_BY(1)
  for (int c = lane; c < columns; c += lanes) {
    const int64_t x = x0 + c;
    const bool inside = static_cast<uint64_t>(x) < static_cast<uint64_t>(length) &&
                        static_cast<uint64_t>(y) < static_cast<uint64_t>(r.height);
    const int64_t at = inside ? y * length + x : seen_element<Rule>(r, x, y, r.border);
    to[c] = at < 0 ? Rule::template identity<L>() : lane_of(static_cast<L>(in[at]));
  }
  return nan;
}

// Joins `parts` elements of a row that are up to `last` apart, `step` between them except before the last one. The
// first `count` results replace what they were made of: lanes read before any of them writes, and what lies to the
// right is still as it was. What is written past them is not used.
template <int parts, class Rule, class L> PENSTOCK_KERNEL void join_row(L* row, int step, int last, int count) {
  constexpr int kEach = kFoldedAtOnce / 32;
  const int lanes = row_lanes();
  L* at = row + static_cast<int>(thread()) % lanes;
  PENSTOCK_UNROLL_BY(1)
  for (int base = 0; base < count; base += kEach * lanes, at += kEach * lanes) {
    L v[kEach];
    PENSTOCK_UNROLL
    for (int k = 0; k < kEach; ++k) v[k] = at[lanes * k];
    PENSTOCK_UNROLL
    for (int part = 1; part < parts; ++part) {
      const L* const from = at + (part + 1 < parts ? part * step : last);
      PENSTOCK_UNROLL
      for (int k = 0; k < kEach; ++k) v[k] = Rule::combine(v[k], from[lanes * k]);
    }
    wait_for_warp();
    PENSTOCK_UNROLL
    for (int k = 0; k < kEach; ++k) at[lanes * k] = v[k];
    wait_for_warp();
  }
}

// Windows of n elements that are `channels` apart, by joins of up to four smaller ones.
template <class Rule, class L> PENSTOCK_KERNEL void fold_row(L* row, int n, int channels, int columns) {
  wait_for_warp();
  for (int w = 1; w < n;) {
    const int next = 4 * w < n ? 4 * w : n, last = (next - w) * channels, count = columns - (next - 1) * channels;
    if (next <= 2 * w) join_row<2, Rule>(row, w * channels, last, count);
    else if (next <= 3 * w) join_row<3, Rule>(row, w * channels, last, count);
    else join_row<4, Rule>(row, w * channels, last, count);
    w = next;
  }
}

// What a thread folds its column down with: van Herk, by blocks of as many rows as a window has. Rows come one by one.
template <class Rule, class L> struct FoldedColumn {
  L* slot;     // the next row's place
  int stride;  // between places: those of a window's rows, and one more for the identity
  int window;  // rows
  int left;    // rows of this block
  L prefix;    // of this block up to the last row

  PENSTOCK_KERNEL FoldedColumn(L* first, int between, int rows)
      : slot(first), stride(between), window(rows), left(rows), prefix(Rule::template identity<L>()) {
    for (int k = 0; k <= rows; ++k) first[k * between] = prefix;
  }
  // The fold of the last `window` rows. A place has the fold from its row to the end of the last block, until it gets
  // the row of this one.
  PENSTOCK_KERNEL L next(L v) {
    prefix = Rule::combine(prefix, v);
    const L folded = Rule::combine(slot[stride], prefix);
    *slot = v;
    slot += stride;
    if (--left == 0) end_block();
    return folded;
  }
  PENSTOCK_KERNEL void end_block() {
    left = window, prefix = Rule::template identity<L>();
    L folded = prefix;
    PENSTOCK_UNROLL_BY(1)
    for (int k = 0; k < window; ++k) {
      slot -= stride;
      folded = Rule::combine(*slot, folded);
      *slot = folded;
    }
  }
};

// A NaN is the result where it is seen first. Not inlined: few images have any.
template <class T, class Rule>
__attribute__((noinline)) PENSTOCK_HD T first_or(T v, const T* in, const FoldRow& r, int64_t x, int64_t y) {
  const int64_t sx = x - r.left * r.channels, sy = y - r.above;
  const T first = in[seen_element<Rule>(r, sx, sy, r.border ? r.border : 1)];
  return first != first ? first : v;
}

// Folds `count` more rows of a column down, the first of which is row k of the tile, and writes those that are whole.
template <bool checks, class T, class Rule, class L>
PENSTOCK_KERNEL void fold_down(FoldedColumn<Rule, L>& down, const L* row, int columns, int k, int count, T*& out,
                               const T* in, const FoldRow& r, int64_t x, int64_t y) {
  const int64_t length = r.width * r.channels;
  const int window = r.window_height;
  PENSTOCK_UNROLL_BY(4)
  for (const int end = k + count; k < end; ++k, row += columns) {
    T v = static_cast<T>(down.next(*row));
    if (k + 1 < window) continue;
    if constexpr (checks) v = first_or<T, Rule>(v, in, r, x, y + k + 1 - window);
    *out = v;
    out += length;
  }
}

// The strip of a tile. Each thread has a column of it, from column `begin` on.
template <class T, class Rule> PENSTOCK_KERNEL void fold_strip(const FoldRow& r, int64_t tile, int begin) {
  using L = LaneOf<T>;
  const int channels = static_cast<int>(r.channels), columns = fold_row_columns(r), width = r.tile_width;
  const int window = r.window_height, column = begin + static_cast<int>(thread());
  const int stride = static_cast<int>(fold_row_stride(columns));
  const int64_t length = r.width * r.channels;
  L* const rows = shared_memory<L>();
  L* const places = rows + kFoldRows * stride;
  int& nan = *reinterpret_cast<int*>(places + (window + 1) * width);
  const int64_t x0 = tile % r.tiles_across * width, y0 = tile / r.tiles_across % r.tiles_down * r.tile_height;
  const int64_t image = tile / r.tiles_across / r.tiles_down * r.height * length;
  const T* const in = static_cast<const T*>(r.in) + image;
  T* out = in_global_memory(static_cast<T*>(r.out) + (image + y0 * length + x0 + column));
  const int made = static_cast<int>(r.height - y0 < r.tile_height ? r.height - y0 : r.tile_height);
  const int count = made + window - 1, lanes = row_lanes(), warps = static_cast<int>(threads()) / lanes;
  const bool has_column = column < width && x0 + column < length;
  FoldedColumn<Rule, L> down(places + (column < width ? column : 0), width, has_column ? window : -1);
  if (thread() == 0) nan = 0;
  wait_for_block();
  PENSTOCK_UNROLL_BY(1)
  for (int first = 0; first < count; first += kFoldRows) {
    const int some = count - first < kFoldRows ? count - first : kFoldRows;
    for (int k = static_cast<int>(thread()) / lanes; k < some; k += warps) {
      L* const row = rows + k * stride;
      if (load_row<T, Rule>(row, in, r, x0 - r.left * channels, y0 - r.above + first + k, columns)) nan = 1;
      fold_row<Rule>(row, r.window_width, channels, columns);
    }
    wait_for_block();
    if (has_column) {
      if (kHasNan<T> && nan) fold_down<true>(down, rows + column, stride, first, some, out, in, r, x0 + column, y0);
      else fold_down<false>(down, rows + column, stride, first, some, out, in, r, x0 + column, y0);
    }
    wait_for_block();
  }
}

// Units of work are tiles. Rule: bordered() of ImageRule, identity() and combine(). A block has a thread for each
// column of a tile; on the host its one thread goes down them one after the other.
template <class T, class Rule> PENSTOCK_KERNEL void fold(const Entry<FoldRow>& e) {
  const FoldRow& r = e.row;
  for (int64_t i = e.begin; i < e.end; ++i) {
    PENSTOCK_UNROLL_BY(1)
    for (int begin = 0; begin < r.tile_width; begin += static_cast<int>(threads()))
      if (i % r.tiles_across * r.tile_width + begin < r.width * r.channels) fold_strip<T, Rule>(r, i, begin);
  }
}

}  // namespace penstock::window
