// SPDX-License-Identifier: Apache-2.0
// Sums of bytes with small whole weights: two of 16 bits in a word, made by one product of integers for both. A sum
// below 0 borrows from the one above it, which adding kZero to both gives back: sums are within int16.
#pragma once
#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

constexpr int kMostByteTaps = 5;  // along an axis
struct ByteTapsRow {
  ByteRows rows;
  int32_t weights[kMostByteTaps * kMostByteTaps + 1];  // row by row
  uint32_t fill;                                       // words outside of a constant border
  uint32_t unused;
};
static_assert(sizeof(ByteTapsRow) == 160);

// What is known of weights when a kernel is compiled: bit k, that weight k is not 0; kMirrored, that the last rows are
// the first ones from below, whose bits are not set then.
constexpr int kMirrored = 1 << 30;

// The sums of four words in the middle of rows, as bytes.
template <int channels, int side, int size, int known>
PENSTOCK_KERNEL void sum_rows_of_bytes(const Pairs<4 + 2 * side>* rows, const int32_t* weights, uint32_t (&to)[4]) {
  constexpr bool mirrored = known & kMirrored;
  constexpr int kWords = 4 + 2 * side, kRows = mirrored ? size / 2 + 1 : size;
  constexpr uint32_t kZero = 0x80008000u;
  uint32_t sums[4][2];
  PENSTOCK_UNROLL
  for (int k = 0; k < 8; ++k) sums[k / 2][k % 2] = kZero;
  PENSTOCK_UNROLL
  for (int j = 0; j < kRows; ++j) {
    Pairs<kWords> row = rows[j];
    if (mirrored && j != size / 2) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kWords; ++k)
        row.odd[k] += rows[size - 1 - j].odd[k], row.even[k] += rows[size - 1 - j].even[k];
    }
    PENSTOCK_UNROLL
    for (int i = 0; i < size; ++i) {
      if (!(known >> (j * size + i) & 1)) continue;
      PENSTOCK_UNROLL
      for (int k = 0; k < 8; ++k) {
        const int at = 4 * (side + k / 2) + k % 2 + (i - size / 2) * channels;
        sums[k / 2][k % 2] += row.pair(at) * static_cast<uint32_t>(weights[j * size + i]);
      }
    }
  }
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k) {
    PENSTOCK_UNROLL
    for (int odd = 0; odd < 2; ++odd)
      sums[k][odd] = lesser_pairs(greater_pairs(sums[k][odd], kZero), kZero | 0x00FF00FFu);
    to[k] = chosen_bytes(sums[k][0], sums[k][1], 0x6240);
  }
}

// Units of work are threads. `size`: of the window, whose anchor is in the middle. Rule: bordered() of ImageRule.
template <int channels, int aligned, int size, int known, class Rule>
PENSTOCK_KERNEL void taps_of_bytes(const Entry<ByteTapsRow>& e) {
  using Columns = ByteColumns<uint8_t, channels, size / 2, aligned, Rule>;
  constexpr int kWords = Columns::kWords, kSide = Columns::kSide, kTogether = size == 3 ? 2 : 1;  // rows
  int32_t weights[size * size];
  PENSTOCK_UNROLL
  for (int i = 0; i < size * size; ++i) weights[i] = e.row.weights[i];
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row.rows, static_cast<uint32_t>(item), e.row.fill);
    Pairs<kWords> rows[size - 1 + kTogether] = {};
    const auto load = [&](int y, Pairs<kWords>& to) {
      uint32_t words[kWords];
      columns.load(y, words);
      PENSTOCK_UNROLL
      for (int k = 0; k < kWords; ++k)
        to.even[k] = words[k] & 0x00FF00FFu, to.odd[k] = chosen_bytes(words[k], 0, 0x4341);
    };
    PENSTOCK_UNROLL_BY(1)
    for (int y = columns.begin - size + 1; y < columns.end; y += kTogether) {
      PENSTOCK_UNROLL
      for (int j = 0; j + 1 < size; ++j) rows[j] = rows[j + kTogether];
      PENSTOCK_UNROLL
      for (int j = 0; j < kTogether; ++j) load(y + size / 2 + j, rows[size - 1 + j]);
      if (y < columns.begin) continue;
      PENSTOCK_UNROLL
      for (int j = 0; j < kTogether; ++j) {
        if (y + j >= columns.end) break;
        uint32_t to[4];
        sum_rows_of_bytes<channels, kSide, size, known>(rows + j, weights, to);
        columns.store(y + j, to);
      }
    }
  }
}

}  // namespace penstock::window
