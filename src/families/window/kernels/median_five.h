// SPDX-License-Identifier: Apache-2.0
// Medians of 5 x 5 bytes. A block has a tile of the input in shared memory. A thread takes four neighboring pixels in
// each half of the tile's width, as the two numbers of a word, and two rows. It sorts columns, of which both rows share
// four elements; merges neighboring columns by twos, which two windows share; and of two such pairs, which again two
// windows share, it keeps the six elements that can be a median. The image is extended by repeating its edge.
#pragma once
#include "families/window/kernels/byte_columns.h"

namespace penstock::window {

// Columns of a tile, whose halves lanes of a warp share by four pixels each, and its rows, two of a warp.
constexpr int kFiveWidth = 256, kFiveRows = 16, kFiveReach = 2;

struct FiveRow {
  const void* in;
  void* out;
  int64_t height, width;  // in pixels
  int32_t tiles_across, tiles_down;
  int64_t channels;
};
static_assert(sizeof(FiveRow) == 48);

// Bytes of a row of the tile, and of what a block needs: the tile and its output.
PENSTOCK_HD constexpr int five_stride(int channels) { return kFiveWidth * channels + 2 * kVectorBytes; }
PENSTOCK_HD constexpr int five_bytes(int channels) {
  return five_stride(channels) * (kFiveRows + 2 * kFiveReach) + kFiveWidth * channels * kFiveRows;
}

// No loops in what follows: compilers take long to unroll them.

// Two sorted columns as one, by Batcher's merge of odd and even places.
PENSTOCK_KERNEL void merge_columns(const uint32_t (&a)[5], const uint32_t (&b)[5], uint32_t (&to)[10]) {
  uint32_t a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4];
  sort_pair(a0, b0), sort_pair(a4, b4), sort_pair(b0, a4), sort_pair(a2, b2), sort_pair(b0, a2), sort_pair(a4, b2);
  sort_pair(a1, b1), sort_pair(a3, b3), sort_pair(b1, a3), sort_pair(b0, a1), sort_pair(a2, b1), sort_pair(a4, a3);
  sort_pair(b2, b3);
  to[0] = a0, to[1] = b0, to[2] = a1, to[3] = a2, to[4] = b1, to[5] = a4, to[6] = a3, to[7] = b2, to[8] = b3,
  to[9] = b4;
}
PENSTOCK_KERNEL uint32_t greater_of_lesser(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return greater_pairs(lesser_pairs(a, b), lesser_pairs(c, d));
}
PENSTOCK_KERNEL uint32_t lesser_of_greater(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return lesser_pairs(greater_pairs(a, b), greater_pairs(c, d));
}
// Of 20 elements in two sorted lists the 8th to the 13th in order: the median of these and five more is one of them, or
// of the five. The ten least and the ten greatest are bitonic; of each the half that is nearer to the middle is, too.
PENSTOCK_KERNEL void middle_six(const uint32_t (&a)[10], const uint32_t (&b)[10], uint32_t (&six)[6]) {
  uint32_t l0 = greater_of_lesser(a[0], b[9], a[5], b[4]), l1 = greater_of_lesser(a[1], b[8], a[6], b[3]);
  uint32_t l2 = greater_of_lesser(a[2], b[7], a[7], b[2]), l3 = greater_of_lesser(a[3], b[6], a[8], b[1]);
  uint32_t l4 = greater_of_lesser(a[4], b[5], a[9], b[0]);
  sort_pair(l0, l1), sort_pair(l0, l2), sort_pair(l0, l3), sort_pair(l1, l3), sort_pair(l2, l4), sort_pair(l1, l2);
  sort_pair(l3, l4);
  six[0] = l2, six[1] = l3, six[2] = l4;
  uint32_t h0 = lesser_of_greater(a[0], b[9], a[5], b[4]), h1 = lesser_of_greater(a[1], b[8], a[6], b[3]);
  uint32_t h2 = lesser_of_greater(a[2], b[7], a[7], b[2]), h3 = lesser_of_greater(a[3], b[6], a[8], b[1]);
  uint32_t h4 = lesser_of_greater(a[4], b[5], a[9], b[0]);
  sort_pair(h0, h1), sort_pair(h0, h2), sort_pair(h0, h3), sort_pair(h0, h4), sort_pair(h1, h3), sort_pair(h2, h4);
  sort_pair(h1, h2);
  six[3] = h0, six[4] = h1, six[5] = h2;
}
// The sixth of six and five sorted elements.
PENSTOCK_KERNEL uint32_t sixth(const uint32_t (&six)[6], const uint32_t (&five)[5]) {
  const uint32_t upper = lesser_pairs(six[5], greater_pairs(six[4], five[0]));
  return lesser_pairs(lesser_pairs(lesser_of_greater(six[0], five[4], six[1], five[3]), upper),
                      lesser_of_greater(six[2], five[2], six[3], five[1]));
}
// The medians of the windows around the middle four of eight sorted columns.
PENSTOCK_KERNEL void medians_of_columns(const uint32_t (&columns)[8][5], uint32_t (&to)[4]) {
  uint32_t left[10], right[10], six[6];
  merge_columns(columns[1], columns[2], left);
  merge_columns(columns[3], columns[4], right);
  middle_six(left, right, six);
  to[0] = sixth(six, columns[0]), to[1] = sixth(six, columns[5]);
  merge_columns(columns[5], columns[6], left);
  middle_six(right, left, six);
  to[2] = sixth(six, columns[2]), to[3] = sixth(six, columns[7]);
}

// A vector of a row of the image of which not all bytes are in it. Not inlined: few are.
template <class T> __attribute__((noinline)) PENSTOCK_KERNEL Vector five_edge(const uint8_t* row, int at, int length,
                                                                              int channels) {
  Vector v{};
  PENSTOCK_UNROLL_BY(1)
  for (int b = 0; b < kVectorBytes; ++b) {
    // The same channel of the first pixel, or of the last one. A tile begins less than a vector before an image.
    const int channel = (at + b + kVectorBytes * channels) % channels;
    const int place = at + b < 0 ? channel : at + b < length ? at + b : length - channels + channel;
    const uint32_t byte = static_cast<uint32_t>(row[place]) << 8 * (b & 3);
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k) v.word[k] |= b / 4 == k ? byte : 0;
  }
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k) v.word[k] ^= kByteSigns<T>;
  return v;
}

// The tile with all that its windows see.
template <class T, bool aligned> PENSTOCK_KERNEL void load_five(uint8_t* tile, const uint8_t* in, const FiveRow& r,
                                                                int x, int y) {
  constexpr int kTogether = 4;  // are read before the first is written
  const int channels = static_cast<int>(r.channels), length = static_cast<int>(r.width) * channels;
  const int height = static_cast<int>(r.height), vectors = five_stride(channels) / kVectorBytes;
  const int begin = x * channels - kVectorBytes, end = length + kFiveReach * channels;
  const int items = vectors * (kFiveRows + 2 * kFiveReach);
  PENSTOCK_UNROLL_BY(1)
  for (int first = thread(); first < items; first += kTogether * threads()) {
    Vector read[kTogether];
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      const int item = first + i * static_cast<int>(threads()), row = item / vectors;
      const int at = begin + (item - row * vectors) * kVectorBytes;
      read[i] = Vector{};
      if (item >= items || at >= end) continue;
      const int from = y + row - kFiveReach;
      const uint8_t* const row_at = in + static_cast<int64_t>(from < 0        ? 0
                                                              : from < height ? from
                                                                              : height - 1) *
                                             length;
      if (at >= 0 && at + kVectorBytes <= length) read[i] = load_words<T, 4, aligned>(row_at + at);
      else read[i] = five_edge<T>(row_at, at, length, channels);
    }
    PENSTOCK_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      const int item = first + i * static_cast<int>(threads());
      if (item < items) reinterpret_cast<Vector*>(tile)[item] = read[i];
    }
  }
}

// Two rows of one channel of the tile: `from` is the first element of the first row that is seen.
PENSTOCK_KERNEL void five_rows(const uint8_t* from, uint8_t* to, int channels) {
  const int stride = five_stride(channels), half = kFiveWidth / 2 * channels;
  const auto load = [&](int row, uint32_t (&pairs)[8]) {
    const uint8_t* const at = from + row * stride;
    PENSTOCK_UNROLL
    for (int k = 0; k < 8; ++k) pairs[k] = chosen_bytes(at[k * channels], at[k * channels + half], 0x4400);
  };
  uint32_t shared[4][8];
  PENSTOCK_UNROLL
  for (int j = 0; j < 4; ++j) load(j + 1, shared[j]);
  PENSTOCK_UNROLL
  for (int k = 0; k < 8; ++k) {
    sort_pair(shared[0][k], shared[1][k]), sort_pair(shared[2][k], shared[3][k]);
    sort_pair(shared[0][k], shared[2][k]), sort_pair(shared[1][k], shared[3][k]);
    sort_pair(shared[1][k], shared[2][k]);
  }
  PENSTOCK_UNROLL_BY(1)
  for (int row = 0; row < 2; ++row) {
    uint32_t last[8], columns[8][5], medians[4];
    load(5 * row, last);
    PENSTOCK_UNROLL
    for (int k = 0; k < 8; ++k) {
      uint32_t a = shared[0][k], b = shared[1][k], c = shared[2][k], d = shared[3][k], e = last[k];
      sort_pair(a, e), sort_pair(b, e), sort_pair(c, e), sort_pair(d, e);
      columns[k][0] = a, columns[k][1] = b, columns[k][2] = c, columns[k][3] = d, columns[k][4] = e;
    }
    medians_of_columns(columns, medians);
    uint8_t* const out = to + row * kFiveWidth * channels;
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k) {
      out[k * channels] = static_cast<uint8_t>(medians[k] >> 8);
      out[k * channels + half] = static_cast<uint8_t>(medians[k] >> 24);
    }
  }
}

// Units of work are tiles. `aligned`: rows begin at multiples of 16 bytes.
template <class T, int aligned> PENSTOCK_KERNEL void median_five(const Entry<FiveRow>& e) {
  const FiveRow& r = e.row;
  const int channels = static_cast<int>(r.channels), height = static_cast<int>(r.height),
            stride = five_stride(channels);
  const int width = static_cast<int>(r.width);
  const int lanes = threads() < 32 ? static_cast<int>(threads()) : 32, lane = static_cast<int>(thread()) % lanes;
  uint8_t *const tile = shared_memory<uint8_t>(), *const made = tile + stride * (kFiveRows + 2 * kFiveReach);
  const int64_t length = r.width * r.channels;
  for (int64_t i = e.begin; i < e.end; ++i) {
    const uint32_t across = static_cast<uint32_t>(r.tiles_across), down = static_cast<uint32_t>(r.tiles_down);
    const uint32_t row_of_tiles = static_cast<uint32_t>(i) / across, image = row_of_tiles / down;
    const int x = static_cast<int>(static_cast<uint32_t>(i) - row_of_tiles * across) * kFiveWidth;
    const int y = static_cast<int>(row_of_tiles - image * down) * kFiveRows;
    const int64_t offset = image * r.height * length;
    load_five<T, aligned != 0>(tile, static_cast<const uint8_t*>(r.in) + offset, r, x, y);
    wait_for_block();
    PENSTOCK_UNROLL_BY(1)
    for (int row = 2 * (thread() / lanes); row < kFiveRows; row += 2 * (threads() / lanes)) {
      uint8_t* const to = made + row * kFiveWidth * channels;
      PENSTOCK_UNROLL_BY(1)
      for (int channel = 0; channel < channels; ++channel) {
        for (int pixel = 4 * lane; pixel < kFiveWidth / 2; pixel += 4 * lanes)
          five_rows(tile + row * stride + kVectorBytes + (pixel - kFiveReach) * channels + channel,
                    to + pixel * channels + channel, channels);
      }
      wait_for_warp();
      const int pixels = width - x < kFiveWidth ? width - x : kFiveWidth;
      PENSTOCK_UNROLL_BY(1)
      for (int j = 0; j < 2 && y + row + j < height; ++j)
        store_row<T>(static_cast<uint8_t*>(r.out) + offset + (y + row + j) * length +
                         static_cast<int64_t>(x) * channels,
                     to + j * kFiveWidth * channels, pixels * channels);
    }
    wait_for_block();
  }
}

}  // namespace penstock::window
