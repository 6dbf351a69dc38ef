// SPDX-License-Identifier: Apache-2.0
// 4:2:0 to contiguous rows of RGB or BGR that are wide enough for a warp: the most common pictures. Makes the same
// bytes as the general code in reconstruct.h, with half the steps.
#pragma once
#include "cuda/jpeg/device.h"

namespace penstock::jpeg_gpu {

// Writes the bytes [begin, begin + count) that a warp has put into shared memory, count <= 768, to consecutive
// addresses, which may be odd: whole words except at the ends. Reads words of the row after these bytes.
PENSTOCK_DEVICE void write_row(const uint32_t* from, uint32_t begin, uint32_t count, uint64_t to, uint32_t lane) {
  const uint32_t head = umin(static_cast<uint32_t>(0 - to) & 3, count), whole = (count - head) / 4,
                 tail = (count - head) & 3;
  const uint32_t source = begin + head, shift = 8 * (source & 3);
  const SharedWords at(from + (source >> 2) + lane);
  const uint64_t words = to + head + 4 * lane;
  const uint32_t left = whole > lane ? whole - lane : 0;
  if (shift == 0) {
    PENSTOCK_UNROLL
    for (uint32_t i = 0; i < 6; ++i) store_word_if(left > 32 * i, words + 128 * i, at.load(128 * i));
  } else {
    PENSTOCK_UNROLL
    for (uint32_t i = 0; i < 6; ++i)
      store_word_if(left > 32 * i, words + 128 * i, funnel(at.load(128 * i + 4), at.load(128 * i), 32 - shift));
  }
  if (lane < head + tail) {
    const uint32_t i = lane < head ? lane : count - tail + (lane - head);
    reinterpret_cast<uint8_t*>(to)[i] = reinterpret_cast<const uint8_t*>(from)[begin + i];
  }
}

// The chroma that 8 pixels need from a row, two samples per word: 0 and 2, 1 and 3, and -1 and 4 next to them. Each is
// 16 times the sample with a bias, so that 9 + 3 + 3 + 1 of them have the rounded sample minus 128 in their high byte.
struct ChromaWords {
  uint32_t even, odd, ends;
};
struct ChromaBytes {
  uint32_t four, before, after;
};

PENSTOCK_DEVICE ChromaBytes fetch_chroma(const uint8_t* p) {
  return {load_read_only<uint32_t>(p), load_read_only<uint8_t>(p - 1), load_read_only<uint8_t>(p + 4)};
}

// If there is no neighbor, the sample at the edge replaces it: the bytes that are read there belong to other rows or
// planes.
struct ChromaEdges {
  uint32_t even, odd, ends;                                     // selectors
  PENSTOCK_DEVICE ChromaEdges(uint32_t column, int32_t last) {  // `last`: the last valid one of the four
    even = last < 2 ? 0x4140 : 0x4240;
    odd = last < 1 ? 0x4040 : last == 1 ? 0x4141 : last == 2 ? 0x4241 : 0x4341;
    ends = (column ? 0x3210 : 0x3214) + (last == 3 ? 0x0500 : 0);
  }
  PENSTOCK_DEVICE ChromaWords words(const ChromaBytes& b) const {
    constexpr uint32_t kBias = 0x08080808, kBiasOfEnds = 0x08040808;  // 4 less: odd pixels round at 7 / 16
    const uint32_t both = pick_bytes(b.before, b.after, 0x5410);
    return {pick_bytes(b.four, 0, even) * 16 + kBias, pick_bytes(b.four, 0, odd) * 16 + kBias,
            pick_bytes(both, b.four, ends) * 16 + kBiasOfEnds};
  }
};

// Of pixels 0 and 4, 1 and 5, ...: in bytes 1 and 3.
PENSTOCK_DEVICE void upsample_words(const ChromaWords& near, const ChromaWords& far, uint32_t* to) {
  const uint32_t even = 3 * near.even + far.even, odd = 3 * near.odd + far.odd, ends = 3 * near.ends + far.ends;
  to[0] = 3 * even + pick_bytes(ends, odd, 0x5410);
  to[1] = 3 * even + (odd - 0x00100010);
  to[2] = 3 * odd + even;
  to[3] = 3 * odd + pick_bytes(even - 0x00100000, ends, 0x7632);
}

// Converts 8 pixels to 6 words by JFIF's factors times 65536; for BGR the planes are exchanged.
template <bool kBgr>
PENSTOCK_DEVICE void color_words(Words2 luma, const uint32_t* low, const uint32_t* high, uint32_t* to) {
  constexpr int32_t kLow = kBgr ? 91881 : 116130, kHigh = kBgr ? 116130 : 91881, kGreenLow = kBgr ? -46802 : -22554,
                    kGreenHigh = kBgr ? -22554 : -46802;
  PENSTOCK_UNROLL
  for (uint32_t half = 0; half < 2; ++half) {
    int32_t v[12];
    PENSTOCK_UNROLL
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t sign = half ? 0xBBB3 : 0x9991;
      const auto a = static_cast<int32_t>(pick_bytes(low[j], 0, sign));
      const auto c = static_cast<int32_t>(pick_bytes(high[j], 0, sign));
      const auto y = static_cast<int32_t>(pick_bytes(half ? luma.y : luma.x, 0x8000, 0x6054 | j << 8));  // and a half
      v[3 * j] = y + kHigh * c;
      v[3 * j + 1] = y + kGreenLow * a + kGreenHigh * c;
      v[3 * j + 2] = y + kLow * a;
    }
    PENSTOCK_UNROLL
    for (uint32_t i = 0; i < 3; ++i)
      to[3 * half + i] = saturate_high_halves(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
  }
}

constexpr uint32_t kRowWords = 32 * 6 + 16;  // for a warp's part of a row; 4 before the pixels

// The part of a picture that a warp writes: 32 groups of 8 pixels from `first` on, `turns` pairs of rows.
template <bool kBgr>
PENSTOCK_DEVICE void write_color_rows(const BatchTable& b, const Picture& p, uint32_t first, uint32_t groups,
                                      uint32_t first_pair, uint32_t pairs, uint32_t* rows) {
  const uint32_t lane = threadIdx.x & 31;
  const uint32_t x0 = p.x & ~7u, left = p.column_begin * 8, top = p.row_begin * 8;
  const uint32_t x = x0 + umin(first + lane, groups - 1) * 8;  // lanes past the row repeat the last one's work
  const uint32_t stride = (p.column_end - p.column_begin) * 8, column = (x >> 1) - left;
  const uint32_t last_row = umin((p.height + 1) / 2, p.row_end * 8) - 1 - top;
  const ChromaEdges edges(column, static_cast<int32_t>((p.width + 1) / 2) - 1 - static_cast<int32_t>(x >> 1));
  const uint8_t* const low = b.samples + p.plane[kBgr ? 2 : 1] + column;
  const uint8_t* const high = b.samples + p.plane[kBgr ? 1 : 2] + column;
  const uint8_t* const luma = b.samples + p.plane[0] + (x - 2 * left);
  const uint32_t first_row = (p.y >> 1) - top;  // of chroma
  uint32_t row = first_row + first_pair;
  const uint32_t end_row = first_row + umin(first_pair + b.turns, pairs);
  const uint32_t part_x = x0 + first * 8, skipped = p.x > part_x ? p.x - part_x : 0;
  const uint32_t bytes = 3 * (umin(p.x + p.region_width - part_x, 256) - skipped);
  const auto row_step = static_cast<uint32_t>(p.row_step);
  const uint64_t out = p.out + 3 * (part_x + skipped - p.x);
  const int32_t to_row = static_cast<int32_t>(2 * top - p.y), region_height = static_cast<int32_t>(p.region_height);
  const SharedWords own(rows + 4 + lane * 6);
  if (row >= end_row) return;
  ChromaBytes next[2];
  Words2 next_luma[2];
  ChromaWords above[2], here[2];
  const auto fetch = [&](uint32_t r) {
    const uint64_t at = static_cast<uint64_t>(umin(r, last_row)) * stride;
    next[0] = fetch_chroma(low + at), next[1] = fetch_chroma(high + at);
  };
  const auto fetch_luma = [&](uint32_t r) {
    const uint8_t* const at = luma + static_cast<uint64_t>(4 * stride) * r;
    next_luma[0] = load_read_only<Words2>(at), next_luma[1] = load_read_only<Words2>(at + 2 * stride);
  };
  fetch(row ? row - 1 : 0);
  above[0] = edges.words(next[0]), above[1] = edges.words(next[1]);
  fetch(row);
  here[0] = edges.words(next[0]), here[1] = edges.words(next[1]);
  fetch(row + 1);
  fetch_luma(row);
  PENSTOCK_KEEP_LOOP
  for (; row < end_row; ++row) {
    const ChromaWords below[2] = {edges.words(next[0]), edges.words(next[1])};
    const Words2 of_rows[2] = {next_luma[0], next_luma[1]};
    if (row + 1 < end_row) {
      fetch(row + 2);
      fetch_luma(row + 1);
    }
    PENSTOCK_UNROLL
    for (uint32_t r = 0; r < 2; ++r) {
      uint32_t a[4], c[4], made[6];
      upsample_words(here[0], r ? below[0] : above[0], a);
      upsample_words(here[1], r ? below[1] : above[1], c);
      color_words<kBgr>(of_rows[r], a, c, made);
      PENSTOCK_UNROLL
      for (uint32_t i = 0; i < 3; ++i) own.store_two(r * kRowWords * 4 + 8 * i, made[2 * i], made[2 * i + 1]);
    }
    PENSTOCK_UNROLL
    for (uint32_t k = 0; k < 2; ++k) above[k] = here[k], here[k] = below[k];
    __syncwarp();
    PENSTOCK_KEEP_LOOP
    for (int32_t r = 0; r < 2; ++r) {
      const int32_t y = to_row + 2 * static_cast<int32_t>(row) + r;
      if (y < 0 || y >= region_height) continue;
      write_row(rows + 4 + static_cast<uint32_t>(r) * kRowWords, 3 * skipped, bytes,
                out + static_cast<uint64_t>(static_cast<uint32_t>(y)) * row_step, lane);
    }
    __syncwarp();
  }
}

}  // namespace penstock::jpeg_gpu
