// SPDX-License-Identifier: Apache-2.0
// Tiles after any taps: a block filters the rows that the tile needs vertically into shared memory (each sample of the
// source is read once or twice, from the first cache), then horizontally.
#pragma once
#include "cuda/kernels/tiles.h"

namespace penstock {

// Rows of a tile that are in shared memory, those of its outputs [y1, y1 + count): plane p of row j, column c of the
// source's columns that the tile needs, in the order of memory, is rows[(j - j0) * pitch + c * kPlanes + p].
template <class Stage> struct FilteredRows {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef StageTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes;
  static constexpr bool kWords = Tile::kBytes && !Stage::kRow.picks_planes;

  const Tile& t;
  const TapsOfTile<Stage>& taps;
  int low, columns, pitch;  // the first column
  float* rows;
  const In* corner;  // of the first column in memory, the first row
  Index forward;     // from column to column
  int j0, j1;        // rows [j0, j1), counted as the taps are

  __device__ inline FilteredRows(const Tile& tile, const TapsOfTile<Stage>& of_tile) : t(tile), taps(of_tile) {
    const int end_x = t.mx > 0 ? taps.first_x[t.mx - 1] : 0, begin_x = t.mx > 0 ? taps.first_x[0] : 0;
    low = begin_x < end_x ? begin_x : end_x;
    columns = t.mx > 0 ? (begin_x < end_x ? end_x : begin_x) + t.tx.taps.taps - low : 0;
    pitch = (columns * kPlanes + 3) / 4 * 4;
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
    for (int j = j0 + threadIdx.x / across; j < j1; j += down) {
      const auto [from, to] = weighted_taps(taps.weight_y + j, t.ny, t.ty.taps.taps);
      const In* row = corner + (static_cast<Index>(taps.first_y[j]) + from) * t.step_y;
      if constexpr (kWords) {
        if (t.beside()) {
          const int n = columns * kPlanes;
          for (int c = lane * 8; c + 8 <= n; c += across * 8) eight_bytes(row + c, j, from, to, c);
          for (int c = n / 8 * 8 + lane; c < n; c += across) byte(row + c, j, from, to, c);
          continue;
        }
      }
      for (int p = 0; p < kPlanes; ++p)
        for (int c = lane; c < columns; c += across)
          sample(row + c * forward + t.plane(p), j, from, to, c * kPlanes + p);
    }
    __syncthreads();
  }

  // The source's value of one output of the tile, in all planes.
  __device__ inline void filter(int x, int y, int j, typename Stage::SourceNumber (&source)[kPlanes]) const {
    int tap_x, tap_y;
    if (!t.tap_place(x, y, j, tap_x, tap_y)) {
      for (int p = 0; p < kPlanes; ++p) source[p] = 0;
      return;
    }
    const int column = taps.first_x[tap_x] - low;
    if constexpr (Tile::kFills) tap_y = tap_y < j0 ? j0 : tap_y < j1 ? tap_y : j1 > j0 ? j1 - 1 : j0;
    const float* r = rows + (tap_y - j0) * pitch + (t.step_x < 0 ? columns - 1 - column : column) * kPlanes;
    const int hop = t.step_x < 0 ? -kPlanes : kPlanes;
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
  __device__ inline void sample(const In* q, int j, int from, int to, int c) {
    float sum = taps.weight_y[from * t.ny + j] * Tile::number(*q);
    for (int k = from + 1; k < to; ++k)
      sum = fma(taps.weight_y[k * t.ny + j], Tile::number(q[(k - from) * t.step_y]), sum);
    rows[(j - j0) * pitch + c] = sum;
  }
};

// One tile after any taps.
template <class Stage> __device__ inline void filter_tile(const StageTile<Stage>& t) {
  const TapsOfTile<Stage> taps(t);
  FilteredRows<Stage> rows(t, taps);
  for (int y1 = 0; y1 < t.ny; y1 += t.band) {
    const int count = t.ny - y1 < t.band ? t.ny - y1 : t.band;
    if (y1 > 0) __syncthreads();
    rows.make(y1, count);
    t.template groups<2>(y1, count, [&](int x, int y, int j, auto& source) { rows.filter(x, y, j, source); });
  }
}

template <class Stage> __device__ inline void tile_shared(const char* table) { filter_tile(StageTile<Stage>(table)); }

}  // namespace penstock
