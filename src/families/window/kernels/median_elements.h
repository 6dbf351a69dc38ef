// SPDX-License-Identifier: Apache-2.0
// Medians of 3 x 3 and 5 x 5 elements of any type by sorting networks: a thread goes down a column and keeps the sorted
// rows of its window. The image is extended by repeating its edge.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "families/window/kernels/median_columns.h"
#include "launch/entry.h"

namespace penstock::window {

using namespace whole;

constexpr int kMedianRows = 16;  // that a thread makes

struct MedianRow {
  const void* in;
  void* out;
  int64_t height, width, channels;
  uint64_t flip, fold;  // KeyBits
};
static_assert(sizeof(MedianRow) == 56);

// The bits of an element, and what processors compare.
template <int bytes> struct MedianKey {
  using Bits = uint8_t;
  using Compared = int32_t;
};
template <> struct MedianKey<2> {
  using Bits = int16_t;
  using Compared = int32_t;
};
template <> struct MedianKey<4> {
  using Bits = int32_t;
  using Compared = int32_t;
};
template <> struct MedianKey<8> {
  using Bits = int64_t;
  using Compared = int64_t;
};

template <class K> PENSTOCK_KERNEL K key_exchanged(K v, K flip, K fold) {
  return static_cast<K>(v ^ flip ^ ((v >> (sizeof(K) * 8 - 1)) & fold));
}
template <class K> PENSTOCK_KERNEL void sort_keys(K& a, K& b) {
  const K low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}
template <class K> PENSTOCK_KERNEL K middle_key(K a, K b, K c) {
  sort_keys(a, b);
  const K low = b < c ? b : c;
  return a < low ? low : a;
}
template <class K> PENSTOCK_KERNEL void sort_row(K (&k)[3]) {
  sort_keys(k[0], k[1]), sort_keys(k[1], k[2]), sort_keys(k[0], k[1]);
}
template <class K> PENSTOCK_KERNEL void sort_row(K (&k)[5]) {
  sort_keys(k[0], k[3]), sort_keys(k[1], k[4]), sort_keys(k[0], k[2]), sort_keys(k[1], k[3]), sort_keys(k[0], k[1]);
  sort_keys(k[2], k[4]), sort_keys(k[1], k[2]), sort_keys(k[3], k[4]), sort_keys(k[2], k[3]);
}
template <class K> PENSTOCK_KERNEL K median_of_rows(const K (&rows)[3][3]) {
  K low = rows[0][0], high = rows[0][2];
  PENSTOCK_UNROLL
  for (int j = 1; j < 3; ++j) low = rows[j][0] < low ? low : rows[j][0], high = rows[j][2] < high ? rows[j][2] : high;
  return middle_key(low, middle_key(rows[0][1], rows[1][1], rows[2][1]), high);
}
template <class K> PENSTOCK_KERNEL K median_of_rows(const K (&rows)[5][5]) {
  K w[25];
  PENSTOCK_UNROLL
  for (int k = 0; k < 25; ++k) w[k] = rows[k % 5][k / 5];
#define PENSTOCK_SORT(a, b) sort_keys(w[a], w[b]);
  PENSTOCK_MEDIAN_OF_COLUMNS(PENSTOCK_SORT)
#undef PENSTOCK_SORT
  return w[16];
}

// Units of work are threads: elements of the first of kMedianRows rows. `bytes`: of an element. `size`: 3 or 5.
template <int bytes, int size> PENSTOCK_KERNEL void median_elements(const Entry<MedianRow>& e) {
  using Bits = typename MedianKey<bytes>::Bits;
  using K = typename MedianKey<bytes>::Compared;
  constexpr int kReach = size / 2;
  const MedianRow& r = e.row;
  const int channels = static_cast<int>(r.channels), height = static_cast<int>(r.height);
  const int64_t length = r.width * channels, strips = (r.height + kMedianRows - 1) / kMedianRows;
  const Bits flip = static_cast<Bits>(r.flip), fold = static_cast<Bits>(r.fold);
  for (int64_t item = e.begin + thread(); item < e.end; item += threads()) {
    const int64_t strip = item / length, image = strip / strips, x = item - strip * length;
    const int begin = static_cast<int>(strip - image * strips) * kMedianRows;
    const int end = begin + kMedianRows < height ? begin + kMedianRows : height;
    const Bits* const in = static_cast<const Bits*>(r.in) + image * r.height * length + x;
    Bits* const out = static_cast<Bits*>(r.out) + image * r.height * length + x;
    int places[size];
    PENSTOCK_UNROLL
    for (int i = 0; i < size; ++i) {
      int64_t at = x + (i - kReach) * channels;
      for (int k = 0; k < kReach && at < 0; ++k) at += channels;
      for (int k = 0; k < kReach && at >= length; ++k) at -= channels;
      places[i] = static_cast<int>(at - x);
    }
    K rows[size][size] = {};
    PENSTOCK_UNROLL_BY(1)
    for (int y = begin - kReach; y < end + kReach; ++y) {
      const Bits* const row = in + (y < 0 ? 0 : y < height ? y : height - 1) * length;
      PENSTOCK_UNROLL
      for (int j = 0; j + 1 < size; ++j) {
        PENSTOCK_UNROLL
        for (int i = 0; i < size; ++i) rows[j][i] = rows[j + 1][i];
      }
      PENSTOCK_UNROLL
      for (int i = 0; i < size; ++i) rows[size - 1][i] = key_exchanged<Bits>(row[places[i]], flip, fold);
      sort_row(rows[size - 1]);
      if (y < begin + kReach) continue;
      out[(y - kReach) * length] = key_exchanged<Bits>(static_cast<Bits>(median_of_rows(rows)), flip, fold);
    }
  }
}

}  // namespace penstock::window
