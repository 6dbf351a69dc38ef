// SPDX-License-Identifier: Apache-2.0
// Tiles after any taps: a block filters the rows that the tile needs vertically into shared memory (each sample of the
// source is read once or twice, from the first cache), then horizontally.
#pragma once
#include "cuda/kernels/tile_fetched.h"
#include "cuda/kernels/tiles.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// Rows of a tile that are in shared memory, those of its outputs [y1, y1 + count). A row has the source's columns that
// the tile needs, in the order of memory, with all planes. If those that have a tap are fewer, as where an image
// becomes much smaller, it has the taps of each output instead, one output after the other.
template <class Stage> struct FilteredRows {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef StageTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes;
  static constexpr bool kWords = Tile::kBytes && !Stage::kRow.picks_planes,
                        kElements = !Tile::kBytes && !Tile::kFrames && !Stage::kRow.picks_planes;
  static constexpr int kMany = 4;  // elements of a lane at once

  const Tile& t;
  const TapsOfTile<Stage>& taps;
  int low, columns, pitch;  // the first column
  bool gathers;             // the taps of each output
  float* rows;
  SourceOf<Stage> corner;  // of the first column in memory, the first row
  Index forward;           // from column to column
  int j0, j1;              // rows [j0, j1), counted as the taps are

  __device__ inline FilteredRows(const Tile& tile, const TapsOfTile<Stage>& of_tile) : t(tile), taps(of_tile) {
    const int end_x = t.mx > 0 ? taps.first_x[t.mx - 1] : 0, begin_x = t.mx > 0 ? taps.first_x[0] : 0;
    low = begin_x < end_x ? begin_x : end_x;
    columns = t.mx > 0 ? (begin_x < end_x ? end_x : begin_x) + t.tx.taps.taps - low : 0;
    gathers = kElements && t.mx * t.tx.taps.taps < columns && t.beside();
    pitch = (held() + 3) / 4 * 4;
    rows = reinterpret_cast<float*>(taps.first_x) +
           (t.nx * (1 + t.tx.taps.taps) + t.ny * (1 + t.ty.taps.taps) + 3) / 4 * 4;
    corner = t.in + (t.step_x < 0 ? static_cast<Index>(low + columns - 1) : static_cast<Index>(low)) * t.step_x;
    forward = t.step_x < 0 ? -t.step_x : t.step_x;
  }

  // Filters the rows of outputs [y1, y1 + count) vertically: a warp takes a row.
  __device__ inline void make(int y1, int count) {
    j0 = y1 > t.by ? (y1 - t.by < t.my ? y1 - t.by : t.my) : 0;
    j1 = y1 + count > t.by ? (y1 + count - t.by < t.my ? y1 + count - t.by : t.my) : 0;
    const int across = blockDim.x < 32 ? 1 : 32, down = blockDim.x / across, lane = threadIdx.x % across;
    const int first = j0 + static_cast<int>(threadIdx.x) / across;
    const bool all = kElements && t.beside();
    if constexpr (kElements)
      if (all) elements(first, down, lane, across);
    for (int j = first; !all && j < j1; j += down) row(j, lane, across);
    __syncthreads();
  }

  // The source's value of one output of the tile, in all planes.
  __device__ inline void filter(int x, int y, int j, typename Stage::SourceNumber (&source)[kPlanes]) const {
    int tap_x, tap_y;
    if (!t.tap_place(x, y, j, tap_x, tap_y)) {
      for (int p = 0; p < kPlanes; ++p) source[p] = 0;
      return;
    }
    const bool back = t.step_x < 0 && !gathers;
    const int column = gathers ? tap_x * t.tx.taps.taps : taps.first_x[tap_x] - low;
    if constexpr (Tile::kFills) tap_y = tap_y < j0 ? j0 : tap_y < j1 ? tap_y : j1 > j0 ? j1 - 1 : j0;
    const float* r = rows + (tap_y - j0) * pitch + (back ? columns - 1 - column : column) * kPlanes;
    const int hop = back ? -kPlanes : kPlanes;
    float sums[kPlanes];
    float weight = taps.weight_x[tap_x];
    for (int p = 0; p < kPlanes; ++p) sums[p] = weight * r[p];
    for (int k = 1; k < t.tx.taps.taps; ++k) {
      r += hop, weight = taps.weight_x[k * t.nx + tap_x];
      for (int p = 0; p < kPlanes; ++p) sums[p] = fma(weight, r[p], sums[p]);
    }
    for (int p = 0; p < kPlanes; ++p) Tile::set(source[p], sums[p]);
  }

 private:
  // Elements of a row in shared memory.
  PENSTOCK_HD inline int held() const { return (gathers ? t.mx * t.tx.taps.taps : columns) * kPlanes; }
  // Where element i of such a row comes from, in a row of the source.
  PENSTOCK_HD inline Index place(int i) const {
    if (!gathers) return static_cast<Index>(corner - t.in) + i;
    const int tap = i / kPlanes, x = tap / t.tx.taps.taps, k = tap - x * t.tx.taps.taps;
    return static_cast<Index>(taps.first_x[x] + k) * t.step_x + (i - tap * kPlanes);
  }
  // Rows from `first` on, `down` apart. Neighboring lanes take neighboring elements, several at once, whose places are
  // the same in all rows.
  __device__ inline void elements(int first, int down, int lane, int across) const {
    const int n = held();
    for (int c = lane; c < n; c += kMany * across) {
      int own[kMany];  // at the end, the last one again
      Index at[kMany];
      PENSTOCK_UNROLL
      for (int u = 0; u < kMany; ++u) own[u] = c + u * across < n ? c + u * across : n - 1, at[u] = place(own[u]);
      for (int j = first; j < j1; j += down) {
        const auto [from, to] = weighted_taps(taps.weight_y + j, t.ny, t.ty.taps.taps);
        float sum[kMany];
        PENSTOCK_UNROLL
        for (int u = 0; u < kMany; ++u) sum[u] = -0.0f;
        const In* q = t.in + (static_cast<Index>(taps.first_y[j]) + from) * t.step_y;
        const float* weight = taps.weight_y + (from * t.ny + j);
        if (to - from == 4) add<4>(q, weight, at, 4, sum);
        else add<0>(q, weight, at, to - from, sum);
        float* to_row = rows + (j - j0) * pitch;
        PENSTOCK_UNROLL
        for (int u = 0; u < kMany; ++u) to_row[own[u]] = sum[u];
      }
    }
  }
  // Adds n taps down, from a row on; of a known number all are requested before one is used.
  template <int known>
  __device__ inline void add(const In* q, const float* weight, const Index (&at)[kMany], int n,
                             float (&sum)[kMany]) const {
    if constexpr (known > 0) {
      PENSTOCK_UNROLL
      for (int k = 0; k < known; ++k) add_row(q + k * t.step_y, weight[k * t.ny], at, sum);
    } else {
      PENSTOCK_UNROLL_TWICE
      for (int k = 0; k < n; ++k) add_row(q + k * t.step_y, weight[k * t.ny], at, sum);
    }
  }
  __device__ inline void add_row(const In* q, float weight, const Index (&at)[kMany], float (&sum)[kMany]) const {
    PENSTOCK_UNROLL
    for (int u = 0; u < kMany; ++u) sum[u] = fma(weight, Tile::number(q[at[u]]), sum[u]);
  }
  __device__ inline void row(int j, int lane, int across) {
    const auto [from, to] = weighted_taps(taps.weight_y + j, t.ny, t.ty.taps.taps);
    const auto own = corner + (static_cast<Index>(taps.first_y[j]) + from) * t.step_y;
    if constexpr (kWords) {
      if (t.beside()) {
        const int n = columns * kPlanes;
        for (int c = lane * 8; c + 8 <= n; c += across * 8) eight_bytes(own + c, j, from, to, c);
        for (int c = n / 8 * 8 + lane; c < n; c += across) byte(own + c, j, from, to, c);
        return;
      }
    }
    if constexpr (Tile::kFrames && !Stage::kRow.picks_planes) {
      if (t.reads_pixels()) {
        for (int c = lane; c < columns; c += across) pixel(own + c * forward, j, from, to, c * kPlanes);
        return;
      }
    }
    for (int p = 0; p < kPlanes; ++p)
      for (int c = lane; c < columns; c += across) sample(own + c * forward + t.plane(p), j, from, to, c * kPlanes + p);
  }
  // The sums over taps [from, to) of row j at the row's element c; q is the first sample.
  __device__ inline void eight_bytes(const In* q, int j, int from, int to, int c) {
    float sum[8];
    float weight = taps.weight_y[from * t.ny + j];
    TwoWords word = eight_bytes_at(q);
    for (int b = 0; b < 8; ++b) sum[b] = weight * byte_number(word, b);
    PENSTOCK_UNROLL_TWICE
    for (int k = from + 1; k < to; ++k) {
      q += t.step_y, weight = taps.weight_y[k * t.ny + j], word = eight_bytes_at(q);
      for (int b = 0; b < 8; ++b) sum[b] = fma(weight, byte_number(word, b), sum[b]);
    }
    for (int b = 0; b < 8; b += 4)
      *reinterpret_cast<Vector<float, 4>*>(rows + (j - j0) * pitch + c +
                                           b) = {{sum[b], sum[b + 1], sum[b + 2], sum[b + 3]}};
  }
  __device__ inline void byte(const In* q, int j, int from, int to, int c) {
    float sum = taps.weight_y[from * t.ny + j] * byte_number(*q, 0);
    for (int k = from + 1; k < to; ++k)
      sum = fma(taps.weight_y[k * t.ny + j], byte_number(q[(k - from) * t.step_y], 0), sum);
    rows[(j - j0) * pitch + c] = sum;
  }
  // The same for all channels of a frame's pixel.
  __device__ inline void pixel(const SourceOf<Stage>& q, int j, int from, int to, int c) {
    float sum[kPlanes], own[kPlanes];
    q.pixel(0, sum);
    for (int p = 0; p < kPlanes; ++p) sum[p] *= taps.weight_y[from * t.ny + j];
    PENSTOCK_UNROLL_TWICE
    for (int k = from + 1; k < to; ++k) {
      q.pixel((k - from) * t.step_y, own);
      for (int p = 0; p < kPlanes; ++p) sum[p] = fma(taps.weight_y[k * t.ny + j], own[p], sum[p]);
    }
    for (int p = 0; p < kPlanes; ++p) rows[(j - j0) * pitch + c + p] = sum[p];
  }
  __device__ inline void sample(const SourceOf<Stage>& q, int j, int from, int to, int c) {
    float sum = taps.weight_y[from * t.ny + j] * Tile::number(*q);
    for (int k = from + 1; k < to; ++k)
      sum = fma(taps.weight_y[k * t.ny + j], Tile::number(q[(k - from) * t.step_y]), sum);
    rows[(j - j0) * pitch + c] = sum;
  }
};

// Outputs of rows [y1, y1 + count) of a tile: a warp takes a row, 32 neighbors at a time.
template <class Stage>
__device__ inline void make_words(const StageTile<Stage>& t, const FilteredRows<Stage>& rows, int y1, int count) {
  const int down = blockDim.x < 32 ? 1 : blockDim.x / 32;
  for (int y = y1 + static_cast<int>(threadIdx.x / 32); y < y1 + count; y += down)
    for (int x = 0; x < t.nx; x += 32)
      store_turned(t, x, y, [&](int at, auto& results) {
        sampled_results<Stage, 1>(
            t.coefs, t.block.fault, [&](int, auto& source) { rows.filter(at < t.nx ? at : t.nx - 1, y, 0, source); },
            [&](int) { return at < t.nx; }, results);
      });
}

// One tile after any taps.
template <class Stage> __device__ inline void filter_tile(const StageTile<Stage>& t) {
  const TapsOfTile<Stage> taps(t);
  if constexpr (FetchedTile<Stage>::kPossible) {
    if (FetchedTile<Stage>::fits(t)) {
      FetchedTile<Stage>(t, taps).make();
      return;
    }
  }
  FilteredRows<Stage> rows(t, taps);
  for (int y1 = 0; y1 < t.ny; y1 += t.band) {
    const int count = t.ny - y1 < t.band ? t.ny - y1 : t.band;
    if (y1 > 0) __syncthreads();
    rows.make(y1, count);
    if constexpr (makes_words<Stage>) {
      if (t.store.interleaved) {
        make_words(t, rows, y1, count);
        continue;
      }
    }
    t.template groups<2>(y1, count, [&](int x, int y, int j, auto& source) { rows.filter(x, y, j, source); });
  }
}

template <class Stage> __device__ inline void tile_shared(const char* table) { filter_tile(StageTile<Stage>(table)); }

}  // namespace penstock
