// SPDX-License-Identifier: Apache-2.0
// Folds of 3 x 3 elements in registers: across, then down, where two rows of the output share what they have in common.
#pragma once
#include "families/window/kernels/element_columns.h"
#include "families/window/kernels/fold.h"

namespace penstock::window {

// A NaN is the result where it is what the window sees first.
template <class T, class Columns, class Rule>
__attribute__((noinline)) PENSTOCK_HD void keep_first_nan(const Columns& c, T* out) {
  PENSTOCK_UNROLL_BY(1)
  for (int y = c.begin; y < c.end; ++y) {
    const int row = static_cast<int>(Rule::bordered(y - 1, c.height, c.border ? c.border : 1));
    PENSTOCK_UNROLL_BY(1)
    for (int k = 0; k < kFour; ++k) {
      const int at = Columns::place(c.x + k - Columns::kSide, c.length, c.border ? c.border : 1);
      const T first = c.in[static_cast<int64_t>(row) * c.length + at];
      if (first != first) out[c.image + static_cast<int64_t>(y) * c.length + c.x + k] = first;
    }
  }
}

// `columns.edge` is 0 where `inner`. Returns whether it has read a NaN.
template <class T, int channels, bool inner, class Rule, class Columns>
PENSTOCK_KERNEL bool fold_columns_of(const Columns& columns, void* out) {
  using L = LaneOf<T>;
  const L identity = Rule::template identity<L>();
  bool nan = false;
  const auto across = [&](const typename Columns::Read& row, L(&to)[kFour]) {
    L seen[Columns::kSeen];
    columns.template convert<inner>(row, seen, identity, [&](T v) {
      const L lane = static_cast<L>(v);
      if constexpr (!kHasNan<T>) return lane;
      nan |= lane != lane;
      return lane == lane ? lane : identity;
    });
    PENSTOCK_UNROLL
    for (int k = 0; k < kFour; ++k)
      to[k] = Rule::combine(Rule::combine(seen[k], seen[k + channels]), seen[k + 2 * channels]);
  };
  L a[kFour] = {}, b[kFour] = {};
  PENSTOCK_UNROLL_BY(1)
  for (int y = columns.begin - 2; y < columns.end; y += 2) {
    const int next = columns.row_at(y + 1), last = columns.row_at(y + 2);
    const auto one = columns.template read<inner>(next), two = columns.template read<inner>(last);
    L c[kFour], d[kFour];
    across(one, c);
    across(two, d);
    Four<T> first, second;
    PENSTOCK_UNROLL
    for (int k = 0; k < kFour; ++k) {
      const L both = Rule::combine(b[k], c[k]);
      first.v[k] = static_cast<T>(Rule::combine(a[k], both));
      second.v[k] = static_cast<T>(Rule::combine(both, d[k]));
      a[k] = c[k], b[k] = d[k];
    }
    if (y < columns.begin) continue;
    columns.store(out, y, first);
    if (y + 1 < columns.end) columns.store(out, y + 1, second);
  }
  return nan;
}

// Units of work are threads. Rule: bordered() of ImageRule, identity() and combine().
template <class T, int channels, int aligned, class Rule>
PENSTOCK_KERNEL void fold_elements(const Entry<ElementRows>& e) {
  using Columns = ElementColumns<T, channels, 1, aligned != 0, Rule>;
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row, static_cast<uint32_t>(item));
    const bool nan = columns.edge == 0 ? fold_columns_of<T, channels, true, Rule>(columns, e.row.out)
                                       : fold_columns_of<T, channels, false, Rule>(columns, e.row.out);
    if (kHasNan<T> && nan) keep_first_nan<T, Columns, Rule>(columns, static_cast<T*>(e.row.out));
  }
}

}  // namespace penstock::window
