// SPDX-License-Identifier: Apache-2.0
// Sums of bytes with any weights, in float32 and in the order of the window, row by row: a thread makes 16 bytes of a
// row from registers, where each row of the input that it sees becomes numbers once for all elements of its window.
#pragma once
#include <bit>

#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

constexpr int kMostRowTaps = 7;  // along an axis

struct RowTapsRow {
  ByteRows rows;
  const float* weights;  // null: those in the data
  InData<float> own_weights;
  const void* fill;  // a byte outside of a constant border; null: 0
};
static_assert(sizeof(RowTapsRow) == 72);

// Byte b of a word, exactly.
PENSTOCK_KERNEL float number_of_byte(uint32_t word, int b) {
  return std::bit_cast<float>(chosen_bytes(word, 0x4B000000u, 0x7440u | static_cast<uint32_t>(b))) - 8388608.0f;
}
// The nearest byte, half to even, in the lowest bits; NaN gives 0.
PENSTOCK_KERNEL uint32_t byte_of_number(float v) {
  v = v > 0.0f ? v : 0.0f;
  v = v < 255.0f ? v : 255.0f;
  return std::bit_cast<uint32_t>(v + 12582912.0f);
}

// Units of work are threads. `size`: of the window, whose anchor is in the middle. Rule: bordered() of ImageRule.
template <int channels, int aligned, int size, class Rule> PENSTOCK_KERNEL void taps_rows(const Entry<RowTapsRow>& e) {
  using Columns = ByteColumns<uint8_t, channels, size / 2, aligned, Rule>;
  constexpr int kWords = Columns::kWords, kFirst = 4 * Columns::kSide - size / 2 * channels;
  constexpr int kNumbers = kVectorBytes + (size - 1) * channels;
  const uint32_t fill = e.row.fill ? 0x01010101u * *static_cast<const uint8_t*>(e.row.fill) : 0;
  const float* const weights = e.row.weights ? e.row.weights : e.at(e.row.own_weights);
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const Columns columns(e.row.rows, static_cast<uint32_t>(item), fill);
    PENSTOCK_UNROLL_BY(1)
    for (int y = columns.begin; y < columns.end; ++y) {
      float sums[kVectorBytes] = {};
      PENSTOCK_UNROLL_BY(1)
      for (int j = 0; j < size; ++j) {
        uint32_t words[kWords];
        columns.load(y + j - size / 2, words);
        float numbers[kNumbers];
        PENSTOCK_UNROLL
        for (int k = 0; k < kNumbers; ++k) numbers[k] = number_of_byte(words[(kFirst + k) / 4], (kFirst + k) % 4);
        PENSTOCK_UNROLL
        for (int i = 0; i < size; ++i) {
          const float weight = weights[j * size + i];
          PENSTOCK_UNROLL
          for (int k = 0; k < kVectorBytes; ++k) sums[k] += weight * numbers[k + i * channels];
        }
      }
      uint32_t to[4];
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) {
        const uint32_t low = chosen_bytes(byte_of_number(sums[4 * k]), byte_of_number(sums[4 * k + 1]), 0x0040);
        const uint32_t high = chosen_bytes(byte_of_number(sums[4 * k + 2]), byte_of_number(sums[4 * k + 3]), 0x0040);
        to[k] = chosen_bytes(low, high, 0x5410);
      }
      columns.store(y, to);
    }
  }
}

}  // namespace penstock::window
