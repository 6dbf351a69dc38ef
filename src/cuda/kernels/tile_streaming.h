// SPDX-License-Identifier: Apache-2.0
// Convolutions of few taps whose results are bytes again. What neighbors are does not matter then: a lane takes kOwn
// bytes of a row, wherever pixels begin. A warp goes down a strip of the image, kRows rows at once: the source's rows
// come to shared memory on their own, some rows ahead, each lane reads back what it asked for, converts each byte once
// for all rows that it belongs to, and filters the sums horizontally with what the lanes beside have, by shuffles. The
// first and the last lane only serve their neighbors. The weights are in registers that a warp's threads share. Rows
// with folded taps have weights of their own; columns with folded taps are made again when all is stored.
#pragma once
#include "cuda/kernels/strip_sizes.h"
#include "cuda/kernels/streams.h"
#include "cuda/kernels/tile_edges.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// What all strips of a tile share (by value: tile_sliding.h). warps: of a block.
template <class Stage, int warps> struct StreamingTile {
  typedef typename Stage::Index Index;
  static constexpr int kPlanes = Stage::kPlanes, kTapsX = Stage::kWindowX, kTapsY = Stage::kWindowY;
  static constexpr int kOwn = kStreamBytes, kSlots = kStreamSlots;

  const StageTile<Stage> t;
  const UnfoldedPart<Stage> part;
  OwnWords<kOwn>* words_of_all;  // in shared memory: kSlots rows of each warp
  float* weights_of_rows;        // kTapsY of each warp
  float* folded_x;               // weight k of folded column i at [k * part.columns + i]
  float weight_x[kTapsX] = {1.0f}, weight_y[kTapsY] = {1.0f};
  int in_x, in_y;           // the source's size
  int bytes, origin, made;  // of the source's row; where in it lane 0 begins; of the tile's row
  const uint8_t* begin;     // of lane 0
  uint8_t* corner;

  __device__ inline StreamingTile(const StageTile<Stage>& tile, const UnfoldedPart<Stage>& unfolded)
      : t(tile), part(unfolded), in_x(static_cast<int>(tile.tx.taps.in)), in_y(static_cast<int>(tile.ty.taps.in)) {
    PENSTOCK_SHARED(OwnWords<kOwn>, all);
    words_of_all = all;
    weights_of_rows = reinterpret_cast<float*>(all + warps * kSlots * 32);
    folded_x = weights_of_rows + warps * kTapsY;
    const int n = part.columns;
    if (n > 0) part.fold_columns(t, reinterpret_cast<int32_t*>(folded_x + n * kTapsX), folded_x);
    PENSTOCK_UNROLL
    for (int k = 0; k < kTapsX; ++k) weight_x[k] = of_warp((kTapsX > 1 ? t.tx.taps.window[k] : 1.0f) * kReduce);
    PENSTOCK_UNROLL
    for (int k = 0; k < kTapsY; ++k) weight_y[k] = of_warp((kTapsY > 1 ? t.ty.taps.window[k] : 1.0f) * kEnlarge);
    bytes = in_x * kPlanes, origin = static_cast<int>(part.wx) * kPlanes - kOwn, made = t.nx * kPlanes;
    begin = t.in + origin;
    corner = t.out + (t.x0 * t.store.x + t.y0 * t.row_out);
  }
  // Every lane's bytes are an aligned vector, all in the row or none.
  __device__ inline bool plain() const {
    return t.store.interleaved && ((reinterpret_cast<uint64_t>(begin) | t.step_y | reinterpret_cast<uint64_t>(corner) |
                                    t.row_out | bytes | made) &
                                   (kOwn - 1)) == 0;
  }
  // The first of the source's rows that output row y reads.
  __device__ inline Index first_row(int y) const { return clamp<Index>(part.wy + y - kTapsY / 2, 0, in_y - kTapsY); }
};

// Stores what a warp's lanes have of a row of results. plain: StreamingTile::plain().
template <class Tile, bool plain> struct StreamingStore {
  static constexpr int kOwn = Tile::kOwn, kPlanes = Tile::kPlanes;
  const Tile s;

  __device__ inline void store(const OwnWords<kOwn> (&words)[kOwnLanes], uint8_t* row_to) const {
    if constexpr (plain) {
      for (int u = 0; u < kOwnLanes; ++u) {
        const int at = (lane_of(u) - 1) * kOwn;
        if (at >= 0 && at < s.made && at < 30 * kOwn) store_words(row_to + at, words[u]);
      }
    } else {
      uint32_t last[kOwnLanes];
      for (int u = 0; u < kOwnLanes; ++u) last[u] = words[u].v[kOwn / 4 - 1];
      for (int u = 0; u < kOwnLanes; ++u) {
        const int at = (lane_of(u) - 1) * kOwn;
        const uint32_t before = of_lane(last, u, -1);
        if (at < 0) continue;
        if (s.t.store.interleaved) store_unaligned(words[u], before, at, row_to);
        else store_bytes(words[u], at, row_to);
      }
    }
  }

 private:
  __device__ inline int low() const { return s.part.left * kPlanes; }
  __device__ inline int high() const { return s.part.right * kPlanes; }
  // By aligned words, the first of which may begin in the lane before: `word` is the last one of that.
  __device__ inline void store_unaligned(const OwnWords<kOwn>& words, uint32_t word, int at, uint8_t* row_to) const {
    const int by = static_cast<int>(reinterpret_cast<uint64_t>(row_to + at) & 3);
    PENSTOCK_UNROLL
    for (int k = 0; k < kOwn / 4; ++k) {
      const uint32_t next = words.v[k], all = by ? shifted(word, next, 32 - 8 * by) : next;
      const int b = at + 4 * k - by;
      word = next;
      if (b >= low() && b + 4 <= high()) *reinterpret_cast<uint32_t*>(row_to + b) = all;
      else
        for (int c = 0; c < 4; ++c)
          if (b + c >= low() && b + c < high()) row_to[b + c] = static_cast<uint8_t>(all >> 8 * c);
    }
  }
  __device__ inline void store_bytes(const OwnWords<kOwn>& words, int at, uint8_t* row_to) const {
    PENSTOCK_UNROLL
    for (int k = 0; k < kOwn; ++k)
      if (at + k >= low() && at + k < high())
        row_to[(at + k) / kPlanes * s.t.store.x + (at + k) % kPlanes * s.t.store.plane] =
            static_cast<uint8_t>(words.v[k / 4] >> k % 4 * 8);
  }
};

// Rows [from, to) of a tile, by one warp.
template <class Stage, int warps, bool plain> struct StreamingStrip {
  typedef typename Stage::Index Index;
  typedef StreamingTile<Stage, warps> Tile;
  static constexpr int kPlanes = Stage::kPlanes, kTapsX = Stage::kWindowX, kTapsY = Stage::kWindowY;
  static constexpr int kOwn = Tile::kOwn, kWords = kOwn / 4, kSide = kTapsX / 2 * kPlanes;
  static constexpr int kRows = kStreamRows, kSpan = kRows + kTapsY - 1, kSlots = Tile::kSlots;

  const Tile s;
  int from, to;
  int y1, y2;  // rows without folded taps
  const uint8_t* first_row;
  OwnWords<kOwn> (*slots)[32];
  float* row_weights;
  int offset[kOwnLanes];  // lanes beside the row read what is in it: their sums count nowhere

  __device__ inline StreamingStrip(const Tile& tile, int strip)
      : s(tile), from(strip * s.t.band), to(from + s.t.band < s.t.ny ? from + s.t.band : s.t.ny) {
    const int top = s.part.top, bottom = s.part.bottom;
    y1 = from < top ? (top < to ? top : to) : from, y2 = to < bottom ? to : bottom > y1 ? bottom : y1;
    first_row = s.begin + (s.part.wy + y1 - kTapsY / 2) * s.t.step_y;
    slots = reinterpret_cast<OwnWords<kOwn>(*)[32]>(s.words_of_all) + strip % warps * kSlots;
    row_weights = s.weights_of_rows + strip % warps * kTapsY;
    for (int u = 0; u < kOwnLanes; ++u)
      offset[u] = plain ? clamp(s.origin + lane_of(u) * kOwn, 0, s.bytes - kOwn) - s.origin : lane_of(u) * kOwn;
  }
  __device__ inline void run() const {
    unfolded_rows();
    for (int y = from; y < to; ++y) {
      if (y >= s.part.top && y < s.part.bottom) y = s.part.bottom;
      if (y >= to) break;
      folded_row(y);
    }
  }

 private:
  __device__ inline void unfolded_rows() const {
    const uint32_t first_bits = static_cast<uint32_t>(reinterpret_cast<uint64_t>(first_row)) * 8;
    const uint32_t step_bits = static_cast<uint32_t>(s.t.step_y) * 8;
    if (y1 < y2) {
      PENSTOCK_UNROLL
      for (int r = 0; r < kSpan; ++r) fetch(r);
      end_fetch();
    }
    for (int r = 0; r < y2 - y1; r += kRows) {
      PENSTOCK_UNROLL
      for (int d = 0; d < kRows; ++d) fetch(r + kSpan + d);
      end_fetch();
      wait_for_fetched<1>();
      float done[kRows][kOwn][kOwnLanes];
      PENSTOCK_UNROLL
      for (int t = 0; t < kSpan; ++t) {
        uint32_t raw[kWords][kOwnLanes];
        for (int u = 0; u < kOwnLanes; ++u) {
          const OwnWords<kOwn> w = slots[(r + t) % kSlots][lane_of(u)];
          PENSTOCK_UNROLL
          for (int k = 0; k < kWords; ++k) raw[k][u] = w.v[k];
        }
        add_row(t, raw, (first_bits + (r + t) * step_bits) & 24, done);
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kRows; ++k)
        if (r + k < y2 - y1) finish(done[k], s.corner + (y1 + r + k) * s.t.row_out);
    }
  }
  // Row y, with weights of its own.
  __device__ inline void folded_row(int y) const {
    const Index first = s.first_row(y);
    for (int t = threadIdx.x % 32; t < kTapsY; t += blockDim.x < 32 ? 1 : 32)
      row_weights[t] = folded_weight<Stage::kFilterY>(s.t.ty.taps, s.part.wy + y, t) * kEnlarge;
    __syncwarp();
    float done[kOwn][kOwnLanes];
    for (int t = 0; t < kTapsY; ++t) {
      const uint8_t* row = s.begin + (first + t) * s.t.step_y;
      const float weight = row_weights[t];
      uint32_t raw[kWords][kOwnLanes];
      for (int u = 0; u < kOwnLanes; ++u) {
        const int before = s.origin + lane_of(u) * kOwn;
        row_words(row + lane_of(u) * kOwn, false, before, s.bytes - before, raw, u);
      }
      const uint32_t by = static_cast<uint32_t>(reinterpret_cast<uint64_t>(row)) * 8 & 24;
      for (int u = 0; u < kOwnLanes; ++u) {
        uint32_t words[kWords];
        take(raw, by, u, words);
        PENSTOCK_UNROLL
        for (int b = 0; b < kOwn; ++b) {
          const float value = small_byte(words[b / 4], b % 4);
          done[b][u] = t == 0 ? weight * value : fma(weight, value, done[b][u]);
        }
      }
    }
    finish(done, s.corner + y * s.t.row_out);
    __syncwarp();
  }
  // Row r of the source, counted from the first one that y1 reads; the last one again instead of those after it.
  __device__ inline void fetch(int r) const {
    const int n = y2 - y1 + kTapsY - 1;
    const uint8_t* row = first_row + (r < n ? r : n - 1) * s.t.step_y;
    for (int u = 0; u < kOwnLanes; ++u) {
      OwnWords<kOwn>* slot = &slots[r % kSlots][lane_of(u)];
      if constexpr (plain) fetch_words(slot, row + offset[u]);
      else fetch_some(slot, row + offset[u], s.origin + offset[u], s.bytes);
    }
  }
  // A lane's bytes, of aligned words that begin `by` bits before them.
  __device__ static inline void take(const uint32_t (&raw)[kWords][kOwnLanes], uint32_t by, int u,
                                     uint32_t (&words)[kWords]) {
    const bool turn = !plain && by != 0;
    const uint32_t last = turn ? of_lane(raw[0], u, 1) : 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k)
      words[k] = turn ? shifted(raw[k][u], k + 1 < kWords ? raw[k + 1 < kWords ? k + 1 : k][u] : last, by) : raw[k][u];
  }
  // Adds row t of a span to the sums of all rows that it belongs to.
  __device__ inline void add_row(int t, const uint32_t (&raw)[kWords][kOwnLanes], uint32_t by,
                                 float (&done)[kRows][kOwn][kOwnLanes]) const {
    for (int u = 0; u < kOwnLanes; ++u) {
      uint32_t words[kWords];
      take(raw, by, u, words);
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) {
        const float value = small_byte(words[b / 4], b % 4);
        PENSTOCK_UNROLL
        for (int k = 0; k < kRows; ++k) {
          if (t == k) done[k][b][u] = s.weight_y[0] * value;
          else if (t > k && t - k < kTapsY) done[k][b][u] = fma(s.weight_y[t - k], value, done[k][b][u]);
        }
      }
    }
  }
  // What the lanes have of a row of sums becomes bytes of the output's row.
  __device__ inline void finish(const float (&done)[kOwn][kOwnLanes], uint8_t* row_to) const {
    OwnWords<kOwn> words[kOwnLanes];
    for (int u = 0; u < kOwnLanes; ++u) {
      float near[kOwn + 2 * kSide], result[kOwn];
      with_neighbors<kSide>(done, u, near);
      PENSTOCK_UNROLL
      for (int b = 0; b < kOwn; ++b) {
        float sum = s.weight_x[0] * near[b];
        PENSTOCK_UNROLL
        for (int t = 1; t < kTapsX; ++t) sum = fma(s.weight_x[t], near[b + t * kPlanes], sum);
        result[b] = sum + 12582912.0f;
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kWords; ++k)
        words[u].v[k] = low_bytes(result[4 * k], result[4 * k + 1], result[4 * k + 2], result[4 * k + 3]);
    }
    StreamingStore<Tile, plain>{s}.store(words, row_to);
  }
};

template <bool plain, class Stage, int warps> __device__ inline void stream(const StreamingTile<Stage, warps>& s) {
  for (int strip = of_warp(static_cast<int>(threadIdx.x / 32)); strip * s.t.band < s.t.ny;
       strip += static_cast<int>(blockDim.x + 31) / 32)
    StreamingStrip<Stage, warps, plain>(s, strip).run();
}

// Row y's columns [from, to) with folded taps: all of them read the first samples of the row, or the last.
template <class Stage, int warps>
__device__ inline void folded_columns(const StreamingTile<Stage, warps>& s, int y, bool at_left, int from, int to) {
  using Tile = StreamingTile<Stage, warps>;
  constexpr int kPlanes = Tile::kPlanes, kTapsX = Tile::kTapsX, kTapsY = Tile::kTapsY;
  const uint8_t* samples = s.t.in + (s.first_row(y) * s.t.step_y + (at_left ? 0 : s.in_x - kTapsX) * kPlanes);
  float columns[kTapsX * kPlanes];
  PENSTOCK_UNROLL
  for (int t = 0; t < kTapsY; ++t) {
    const float weight = kTapsY == 1 ? 1.0f
                         : y >= s.part.top && y < s.part.bottom
                             ? s.t.ty.taps.window[t]
                             : folded_weight<Stage::kFilterY>(s.t.ty.taps, s.part.wy + y, t);
    PENSTOCK_UNROLL
    for (int b = 0; b < kTapsX * kPlanes; ++b) {
      const float value = static_cast<float>(samples[t * s.t.step_y + b]);
      columns[b] = t == 0 ? weight * value : fma(weight, value, columns[b]);
    }
  }
  for (int x = from; x < to; ++x) {
    const float* weights = s.folded_x + (at_left ? x : x - s.part.right + s.part.left);
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      float sum = weights[0] * columns[p];
      PENSTOCK_UNROLL
      for (int t = 1; t < kTapsX; ++t) sum = fma(weights[t * s.part.columns], columns[t * kPlanes + p], sum);
      s.corner[x * s.t.store.x + y * s.t.row_out + p * s.t.store.plane] = element_within<uint8_t>(sum);
    }
  }
}

template <class Stage, int warps> __device__ inline void tile_streaming(const char* table) {
  const StageTile<Stage> t(table);
  const UnfoldedPart<Stage> part(t, 1);
  if (t.tx.taps.in < Stage::kWindowX || t.ty.taps.in < Stage::kWindowY) {
    make_edges(t, part);
    return;
  }
  const StreamingTile<Stage, warps> s(t, part);
  if (s.plain()) stream<true>(s);
  else stream<false>(s);
  if (part.columns == 0) return;
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * t.ny; i += blockDim.x) {
    const bool at_left = i < t.ny;
    const int from = at_left ? 0 : part.right, to = at_left ? part.left : t.nx;
    if (from < to) folded_columns(s, at_left ? i : i - t.ny, at_left, from, to);
  }
}

}  // namespace penstock
