// SPDX-License-Identifier: Apache-2.0
// Folds of 3 x 3 bytes in registers: down, where two rows of the output share what they have in common, then across.
#pragma once
#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

template <class Rule, int channels, int side> PENSTOCK_KERNEL void fold_across(const Pairs<4 + 2 * side>& down,
                                                                               uint32_t (&to)[4]) {
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k) {
    uint32_t pair[2];
    PENSTOCK_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      const int at = 4 * (side + k) + odd;
      pair[odd] =
          Rule::combine_pairs(Rule::combine_pairs(down.pair(at - channels), down.pair(at + channels)), down.pair(at));
    }
    to[k] = leading_bytes(pair[1], pair[0]);
  }
}

// Units of work are threads. Rule: bordered() of ImageRule, identity() and combine_pairs().
template <class T, int channels, int aligned, class Rule> PENSTOCK_KERNEL void fold_three(const Entry<ByteRows>& e) {
  using Columns = ByteColumns<T, channels, 1, aligned, Rule>;
  constexpr int kWords = Columns::kWords;
  const uint32_t fill = 0x01010101u * Rule::template identity<uint8_t>();
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row, static_cast<uint32_t>(item), fill);
    const auto load = [&](int y) {
      uint32_t words[kWords];
      columns.load(y, words);
      return compared(words);
    };
    Pairs<kWords> a{}, b{};
    PENSTOCK_UNROLL_BY(1)
    for (int y = columns.begin - 2; y < columns.end; y += 2) {
      const Pairs<kWords> c = load(y + 1), d = load(y + 2);
      if (y >= columns.begin) {
        Pairs<kWords> first, second;
        PENSTOCK_UNROLL
        for (int k = 0; k < kWords; ++k) {
          const uint32_t odd = Rule::combine_pairs(b.odd[k], c.odd[k]);
          const uint32_t even = Rule::combine_pairs(b.even[k], c.even[k]);
          first.odd[k] = Rule::combine_pairs(a.odd[k], odd), first.even[k] = Rule::combine_pairs(a.even[k], even);
          second.odd[k] = Rule::combine_pairs(odd, d.odd[k]), second.even[k] = Rule::combine_pairs(even, d.even[k]);
        }
        uint32_t to[4];
        fold_across<Rule, channels, Columns::kSide>(first, to);
        columns.store(y, to);
        if (y + 1 < columns.end) {
          fold_across<Rule, channels, Columns::kSide>(second, to);
          columns.store(y + 1, to);
        }
      }
      a = c, b = d;
    }
  }
}

}  // namespace penstock::window
