// SPDX-License-Identifier: Apache-2.0
// Means of rectangles: how sums become means, on both devices, and the kernel of a GPU. A block has a tile of the input
// with what its windows see in shared memory, as numbers, and sums it across, then down.
//
// Sums of integers are exact, in any order, and so are their means: rounded to the nearest, half to even. Sums of
// float32 have one order. A window of n elements is made of windows of 1, 2, 4, ... elements, the largest first; one of
// 2 k elements is the sum of two of k. They are joined from the last to the first: 7 elements are
// ((a + b) + (c + d)) + ((e + f) + g). So errors grow with the logarithm of n, and a moved image has a moved mean.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "families/window/kernels/load_rows.h"
#include "launch/entry.h"
#include "pixel/stored.h"

namespace penstock::window {

// How a sum becomes a mean.
struct BoxMean {
  int32_t count;  // elements of a window
  int32_t even;   // 1: `count` is, so that a mean may lie between two integers
  float factor;   // integers: a bit less than 1 / count, so that a quotient is at most 1 too small
  // For sums in 16 bits: sum * part >> (16 + shift) is the quotient.
  uint16_t part, shift;
};

// Integers are summed without signs: as if the least one was 0.
template <class T, class L> PENSTOCK_INLINE L box_lane(T v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<L>(static_cast<int32_t>(v) - std::numeric_limits<T>::lowest());
  else return static_cast<L>(v);
}
template <class T, class L> PENSTOCK_INLINE T box_mean(L sum, const BoxMean& m) {
  if constexpr (!std::is_integral_v<T>) {
    return stored<T>(sum * m.factor);
  } else if constexpr (sizeof(L) == 2) {
    const auto x = static_cast<uint16_t>(sum + (m.count >> 1));
    const auto q = static_cast<int32_t>(static_cast<uint32_t>(x) * m.part >> 16 >> m.shift);
    const int32_t up = static_cast<int32_t>(x == q * m.count) & q & m.even;
    return static_cast<T>(q - up + std::numeric_limits<T>::lowest());
  } else if constexpr (sizeof(L) == 4) {
    const int32_t x = sum + (m.count >> 1);
    int32_t q = static_cast<int32_t>(static_cast<float>(x) * m.factor);
    const int32_t rest = x - q * m.count;
    q += rest >= m.count;
    q -= ((rest == 0) | (rest == m.count)) & q & m.even;
    return static_cast<T>(q + std::numeric_limits<T>::lowest());
  } else {
    const int64_t x = sum + (m.count >> 1), q = x / m.count;
    const auto up = static_cast<int64_t>(x == q * m.count) & q & m.even;
    return static_cast<T>(q - up + std::numeric_limits<T>::lowest());
  }
}

// The sum of n numbers that are `step` apart, as above.
template <int n, class L> PENSTOCK_INLINE L box_sum(const L* from, int64_t step) {
  constexpr int first = n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1;
  if constexpr (n == 1) return from[0];
  else if constexpr (n == first)
    return static_cast<L>(box_sum<n / 2>(from, step) + box_sum<n / 2>(from + n / 2 * step, step));
  else return static_cast<L>(box_sum<first>(from, step) + box_sum<n - first>(from + first * step, step));
}
constexpr int kMostBoxAtOnce = 7;

// Elements of a row are its pixels with their channels.
struct BoxRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  int64_t tiles_across, tiles_down;  // of an image
  int32_t left, above;               // pixels that a window reaches so far
  int32_t window_width, window_height;
  int32_t tile_width, tile_height;  // in elements
  int32_t border;
  int32_t tile_bits;  // tile_width is 1 << tile_bits
  BoxMean mean;
};
static_assert(sizeof(BoxRow) == 104);

// f(BoxSize<n>) for n up to kMostBoxAtOnce.
template <int n> struct BoxSize {
  static constexpr int size = n;
};
template <class F> PENSTOCK_KERNEL void with_size(int n, const F& f) {
  if (n == 1) f(BoxSize<1>{});
  else if (n == 2) f(BoxSize<2>{});
  else if (n == 3) f(BoxSize<3>{});
  else if (n == 4) f(BoxSize<4>{});
  else if (n == 5) f(BoxSize<5>{});
  else if (n == 6) f(BoxSize<6>{});
  else f(BoxSize<7>{});
}
// Windows of n numbers that are `step` apart, of the first `count` numbers of `from`, level by level. add(from, end,
// first) joins the windows that begin `end` numbers on with those after them.
template <class L, class Add>
PENSTOCK_KERNEL void sum_levels(L* from, L* to, int n, int step, int count, const Add& add) {
  int end = n;
  for (int size = 1;; size *= 2) {
    if (n & size) {
      const bool first = end == n;
      end -= size;
      add(from, end, first);
    }
    if (2 * size > n) break;
    count -= size * step;
    for (int item = thread(); item < count; item += threads()) to[item] = from[item] + from[item + size * step];
    wait_for_block();
    L* const t = from;
    from = to, to = t;
  }
  wait_for_block();
}
// The windows across of a tile, whose rows are then as wide as the output's. `to` is used where n is large.
template <class L> PENSTOCK_KERNEL void sum_across(L* from, L* to, L* sums, const BoxRow& r, int columns, int rows) {
  const int step = static_cast<int>(r.channels), bits = r.tile_bits, rest = r.tile_width - 1, items = rows << bits;
  if (r.window_width <= kMostBoxAtOnce) {
    with_size(r.window_width, [&](auto n) {
      PENSTOCK_UNROLL_BY(2)
      for (int item = thread(); item < items; item += threads())
        sums[item] = box_sum<decltype(n)::size>(from + (item >> bits) * columns + (item & rest), step);
    });
    wait_for_block();
    return;
  }
  sum_levels(from, to, r.window_width, step, columns * rows, [&](const L* level, int end, bool first) {
    for (int item = thread(); item < items; item += threads()) {
      const L v = level[(item >> bits) * columns + (item & rest) + end * step];
      sums[item] = first ? v : v + sums[item];
    }
  });
}

template <bool integral> struct BoxNumber {
  using type = int32_t;
};
template <> struct BoxNumber<false> {
  using type = float;
};

// Units of work are tiles. Rule: bordered() of ImageRule.
template <class T, class Rule> PENSTOCK_KERNEL void box(const Entry<BoxRow>& e) {
  using L = typename BoxNumber<std::is_integral_v<T>>::type;
  const BoxRow& r = e.row;
  const int channels = static_cast<int>(r.channels), wide = r.tile_width, high = r.tile_height;
  const int columns = wide + (r.window_width - 1) * channels, rows = high + r.window_height - 1;
  const int64_t length = r.width * r.channels;
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x0 = i % r.tiles_across * wide, y0 = i / r.tiles_across % r.tiles_down * high;
    const int64_t image = i / r.tiles_across / r.tiles_down * r.height * length;
    L* const tile = shared_memory<L>();
    L* const sums = tile + columns * rows;
    L* const more = sums + wide * rows;  // where a window is large
    load_rows<Rule>(tile, static_cast<const T*>(r.in) + image, r, x0 - r.left * channels, y0 - r.above, columns, rows,
                    [](T v) { return box_lane<T, L>(v); });
    sum_across(tile, more, sums, r, columns, rows);
    T* const out = static_cast<T*>(r.out) + image;
    const auto store = [&](int item, L sum) {
      const int64_t x = x0 + (item & (wide - 1)), y = y0 + (item >> r.tile_bits);
      if (x < length && y < r.height) out[y * length + x] = box_mean<T>(sum, r.mean);
    };
    const int items = wide * high;
    if (r.window_height <= kMostBoxAtOnce) {
      with_size(r.window_height, [&](auto n) {
        PENSTOCK_UNROLL_BY(2)
        for (int item = thread(); item < items; item += threads())
          store(item, box_sum<decltype(n)::size>(sums + item, wide));
      });
    } else {
      sum_levels(sums, tile, r.window_height, wide, wide * rows, [&](const L* level, int end, bool first) {
        for (int item = thread(); item < items; item += threads()) {
          const L v = level[item + end * wide];
          more[item] = first ? v : v + more[item];
        }
      });
      for (int item = thread(); item < items; item += threads()) store(item, more[item]);
    }
    wait_for_block();
  }
}

}  // namespace penstock::window
