// SPDX-License-Identifier: Apache-2.0
// Convolutions of few taps, of bytes. A warp goes down a strip of the image: a lane has the sums of a few neighbors for
// all rows that the source's row at hand belongs to, so that each sample is read and converted once. A row that is done
// is filtered horizontally, with what the lanes beside have by shuffles. The first and the last lane only serve their
// neighbors. What has folded taps, and what is less than a group, is left to tile_edges.h.
#pragma once
#include "cuda/kernels/strip_sizes.h"
#include "cuda/kernels/tile_edges.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// What all strips of a tile share.
// Structs hold each other by value: through references compilers keep them in memory.
template <class Stage> struct SlidingTile {
  static constexpr int kPlanes = Stage::kPlanes, kTapsX = Stage::kWindowX, kTapsY = Stage::kWindowY;
  static constexpr int kGroup = sliding_group(kPlanes), kOwn = kGroup * kPlanes;  // pixels and bytes of a lane
  // Three words of a lane are results of four pixels: lanes change them so that neighbors store neighbors.
  static constexpr bool kTurns =
      kOwn == 12 && std::is_same_v<typename Stage::Out, uint8_t> && Stage::kOutPlanes == kPlanes;

  const StageTile<Stage> t;
  const UnfoldedPart<Stage> part;
  float weight_x[kTapsX] = {1.0f}, weight_y[kTapsY] = {1.0f};
  const uint8_t* begin;               // of lane 0
  int origin, bytes;                  // of the source's row: where lane 0 begins in it, and all
  bool turned = false;                // rows of the output are words
  int first_word = 0, last_word = 0;  // of a warp's row, those that are stored

  __device__ inline SlidingTile(const StageTile<Stage>& tile, const UnfoldedPart<Stage>& unfolded)
      : t(tile), part(unfolded) {
    PENSTOCK_UNROLL
    for (int k = 0; k < kTapsX; ++k)
      weight_x[k] = (kTapsX > 1 ? t.tx.taps.window[k] : 1.0f) * (Stage::kAverages ? kReduce : 1.0f);
    PENSTOCK_UNROLL
    for (int k = 0; k < kTapsY; ++k)
      weight_y[k] = (kTapsY > 1 ? t.ty.taps.window[k] : 1.0f) * (Stage::kAverages ? kEnlarge : 1.0f);
    begin = t.in + (part.wx * kPlanes - kOwn);
    origin = static_cast<int>(part.wx * kPlanes - kOwn), bytes = static_cast<int>(t.tx.taps.in) * kPlanes;
    if constexpr (kTurns) {
      turned = t.store.interleaved &&
               ((reinterpret_cast<uint64_t>(t.out) | (t.x0 * kPlanes + t.y0 * t.row_out) | t.row_out) & 3) == 0;
      first_word = (part.left + kGroup) / kGroup * 3, last_word = (part.right + kGroup) / kGroup * 3;
    }
  }
  // Rows begin at words, and nothing is to be left out: strips go without what others ask for each row.
  __device__ inline bool plain() const {
    return (!kTurns || turned) && ((reinterpret_cast<uint64_t>(begin) | t.step_y) & 3) == 0 && origin >= 0 &&
           bytes - origin >= 32 * kOwn;
  }
};

// Rows [y1, y2) of a tile, by one warp. plain: SlidingTile::plain().
template <class Stage, bool plain> struct SlidingStrip {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  typedef SlidingTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes, kTapsX = Stage::kWindowX, kTapsY = Stage::kWindowY;
  static constexpr int kGroup = Tile::kGroup, kOwn = Tile::kOwn, kWords = kOwn / 4, kSide = kTapsX / 2 * kPlanes;
  static constexpr bool kTurns = Tile::kTurns;

  const Tile s;
  int y1, n;            // rows of the source
  const uint8_t* next;  // the row to be read
  Out* row_to;          // where a row of words goes
  uint32_t shift;       // of the row at hand
  // As many rows are read ahead as the loop is unrolled for, so that none moves from register to register.
  uint32_t ahead[kTapsY][kWords][kOwnLanes];
  float sum[kTapsY][kOwn][kOwnLanes];

  __device__ inline SlidingStrip(const Tile& tile, int first, int last)
      : s(tile), y1(first), n(last - first + kTapsY - 1) {
    next = s.begin + (s.part.wy + y1 - kTapsY / 2) * s.t.step_y + (plain ? lane_of(0) * kOwn : 0);
    if constexpr (kTurns)
      row_to = s.t.out + ((s.t.x0 - kGroup) * kPlanes + (s.t.y0 + y1) * s.t.row_out) + (plain ? lane_of(0) * 4 : 0);
    shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(next)) * 8;
  }
  __device__ inline void run() {
    PENSTOCK_UNROLL
    for (int d = 0; d < kTapsY; ++d) {
      if (d > 0) next += d < n ? s.t.step_y : Index(0);
      read(ahead[d]);
    }
    for (int r0 = 0; r0 < n; r0 += kTapsY) {
      PENSTOCK_UNROLL
      for (int f = 0; f < kTapsY; ++f) {
        const int r = r0 + f;
        if (r >= n) break;
        uint32_t words[kWords][kOwnLanes];
        take(ahead[f], words);
        shift += static_cast<uint32_t>(s.t.step_y) * 8;
        if (plain || r + kTapsY < n) {  // the last row again
          next += r + kTapsY < n ? s.t.step_y : Index(0);
          read(ahead[f]);
        }
        float done[kOwn][kOwnLanes];
        add(f, words, done);
        if (r >= kTapsY - 1) finish(done, y1 + r - (kTapsY - 1));
      }
    }
  }

 private:
  __device__ inline void read(uint32_t (&to)[kWords][kOwnLanes]) const {
    for (int u = 0; u < kOwnLanes; ++u) {
      if constexpr (plain) {
        const uint32_t* words = reinterpret_cast<const uint32_t*>(next + u * kOwn);
        for (int k = 0; k < kWords; ++k) to[k][u] = words[k];
      } else {
        const int at = lane_of(u) * kOwn, before = s.origin + at, after = s.bytes - before;
        row_words(next + at, before >= 0 && after >= kOwn + 4, before, after, to, u);
      }
    }
  }
  // The bytes of the row at hand, of aligned words.
  __device__ inline void take(const uint32_t (&row)[kWords][kOwnLanes], uint32_t (&words)[kWords][kOwnLanes]) const {
    for (int u = 0; u < kOwnLanes; ++u) {
      if (plain || (shift & 24) == 0) {
        for (int k = 0; k < kWords; ++k) words[k][u] = row[k][u];
      } else {
        const uint32_t last = of_lane(row[0], u, 1);
        for (int k = 0; k < kWords; ++k)
          words[k][u] = shifted(row[k][u], k + 1 < kWords ? row[k + 1 < kWords ? k + 1 : k][u] : last, shift & 24);
      }
    }
  }
  // Adds row f of those that slide to all sums that it belongs to; `done` is the one that has all its rows.
  __device__ inline void add(int f, const uint32_t (&words)[kWords][kOwnLanes], float (&done)[kOwn][kOwnLanes]) {
    for (int u = 0; u < kOwnLanes; ++u) {
      float values[kOwn];
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) values[b] = byte_factor<Stage::kAverages>(words[b / 4][u], b % 4);
      PENSTOCK_UNROLL
      for (int k = 0; k < kTapsY; ++k) {
        const int t = (f - k + kTapsY) % kTapsY;
        PENSTOCK_UNROLL
        for (int b = 0; b < kOwn; ++b)
          sum[k][b][u] = t == 0 ? s.weight_y[0] * values[b] : fma(s.weight_y[t], values[b], sum[k][b][u]);
      }
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) done[b][u] = sum[(f + 1) % kTapsY][b][u];
    }
  }
  // Row y of the output.
  __device__ inline void finish(const float (&done)[kOwn][kOwnLanes], int y) {
    uint32_t own[3][kOwnLanes];
    for (int u = 0; u < kOwnLanes; ++u) {
      float near[kOwn + 2 * kSide];
      with_neighbors<kSide>(done, u, near);
      const int x = lane_of(u) * kGroup - kGroup;
      const bool inside = x >= s.part.left && x < s.part.right;
      if (!kTurns && !inside) continue;
      Out results[kGroup][Stage::kOutPlanes];
      filter(near, inside, results);
      if constexpr (kTurns) {
        if (plain || s.turned) {
          Vector<uint8_t, 12> bytes;
          for (int b = 0; b < 12; ++b) bytes.v[b] = results[b / 3][b % 3];
          const Words all = std::bit_cast<Words>(bytes);
          for (int k = 0; k < 3; ++k) own[k][u] = all.v[k];
          continue;
        }
        if (!inside) continue;
      }
      Out* to = s.t.out + ((s.t.x0 + x) * s.t.store.x + (s.t.y0 + y) * s.t.row_out);
      s.t.store.group(to, kGroup, true, [](int) { return false; }, results);
    }
    if constexpr (kTurns) {
      if (plain || s.turned) store_turned(own);
      row_to += s.t.row_out;
    }
  }
  struct Words {
    uint32_t v[3];
  };
  __device__ inline void filter(const float (&near)[kOwn + 2 * kSide], bool inside,
                                Out (&results)[kGroup][Stage::kOutPlanes]) const {
    sampled_results<Stage, kGroup>(
        s.t.coefs, s.t.block.fault,
        [&](int j, typename Stage::SourceNumber(&source)[kPlanes]) {
          for (int p = 0; p < kPlanes; ++p) {
            float sum = s.weight_x[0] * near[j * kPlanes + p];
            PENSTOCK_UNROLL
            for (int t = 1; t < kTapsX; ++t) sum = fma(s.weight_x[t], near[(j + t) * kPlanes + p], sum);
            s.t.set(source[p], sum);
          }
        },
        [&](int) { return inside; }, results);
  }
  __device__ inline void store_turned(const uint32_t (&own)[3][kOwnLanes]) const {
    uint32_t mixed[3][kOwnLanes];
    turn_words(own, mixed);
    for (int u = 0; u < kOwnLanes; ++u) {
      PENSTOCK_UNROLL
      for (int k = 0; k < 3; ++k) {
        const int i = 32 * k + lane_of(u);
        if (i >= s.first_word && i < s.last_word)
          reinterpret_cast<uint32_t*>(row_to)[plain ? 32 * k + u : i] = mixed[k][u];
      }
    }
  }
};

template <bool plain, class Stage> __device__ inline void slide(const SlidingTile<Stage>& s) {
  const int band = s.t.band, top = s.part.top, bottom = s.part.bottom;
  for (int strip = threadIdx.x / 32; strip * band < bottom; strip += (blockDim.x + 31) / 32) {
    const int y1 = strip * band < top ? top : strip * band;
    const int y2 = strip * band + band < bottom ? strip * band + band : bottom;
    if (y1 < y2) SlidingStrip<Stage, plain>(s, y1, y2).run();
  }
}

template <class Stage> __device__ inline void tile_sliding(const char* table) {
  const StageTile<Stage> t(table);
  const UnfoldedPart<Stage> part(t, sliding_group(Stage::kPlanes));
  make_edges(t, part);
  const SlidingTile<Stage> s(t, part);
  if (part.left >= part.right) return;
  if (s.plain()) slide<true>(s);
  else slide<false>(s);
}

}  // namespace penstock
