// SPDX-License-Identifier: Apache-2.0
// Resampling of bytes whose planes lie side by side. A warp makes a few rows of the tile at a time, on its own: it
// filters the rows vertically into its part of shared memory, plane by plane, a lane four samples (or eight) of all
// planes from words; then a lane filters two neighbors of all these rows horizontally, whose weights it reads once.
#pragma once
#include "cuda/kernels/byte_runs.h"
#include "cuda/kernels/tile_sizes.h"
#include "cuda/kernels/tiles.h"

namespace penstock {

// The taps of a tile's outputs in shared memory, and the samples that it reads: columns of a row from `corner` on. If
// an image becomes much smaller, most of them have no tap: then a chunk is the taps of one output.
template <class Stage> struct ResampledTaps {
  typedef typename Stage::Index Index;
  static constexpr int kPlanes = Stage::kPlanes, kWide = resampled_chunk(kPlanes);

  int pairs;  // of outputs of a row
  float *rows, *weight_x, *weight_y;
  int32_t *first_x, *first_y, *from_y, *to_y;  // taps [from, to) of an output row
  int low, chunks, pitch;                      // the first column; chunks of a row, floats of a plane's row
  bool gathers;                                // chunks are outputs
  const uint8_t *corner, *image_end;

  __device__ inline explicit ResampledTaps(const StageTile<Stage>& t) : pairs((t.nx + 1) / 2) {
    PENSTOCK_SHARED(float, all_rows);
    rows = all_rows, weight_x = all_rows + t.band, weight_y = weight_x + 2 * pairs * t.tx.taps.taps;
    first_x = reinterpret_cast<int32_t*>(weight_y + t.ny * t.ty.taps.taps);
    first_y = first_x + t.nx, from_y = first_y + t.ny, to_y = from_y + t.ny;
    const int busy = (t.nx + 31) / 32 * 32;
    tile_taps<Stage::kFilterX>(t.tx.taps, t.tx.begin + t.tx.step * t.x0, t.tx.step, t.nx, 2 * pairs, first_x, weight_x);
    tile_taps<Stage::kFilterY>(t.ty.taps, t.ty.begin + t.ty.step * t.y0, t.ty.step, t.ny, t.ny, first_y, weight_y,
                               busy);
    // The threads that made them.
    for (int j = (threadIdx.x + blockDim.x - busy % blockDim.x) % blockDim.x; j < t.ny; j += blockDim.x) {
      const auto [from, to] = weighted_taps(weight_y + j, t.ny, t.ty.taps.taps);
      from_y[j] = from, to_y[j] = to;
      if constexpr (Stage::kAverages)
        for (int k = from; k < to; ++k) weight_y[k * t.ny + j] *= kEnlarge;
    }
    if constexpr (Stage::kAverages) {
      for (int i = threadIdx.x; i < t.nx; i += blockDim.x)
        for (int k = 0; k < t.tx.taps.taps; ++k) weight_x[2 * k * pairs + i] *= kReduce;
    }
    __syncthreads();
    const int last_x = first_x[t.nx - 1];
    low = first_x[0] < last_x ? first_x[0] : last_x;
    const int columns = (first_x[0] < last_x ? last_x : first_x[0]) + t.tx.taps.taps - low;
    chunks = (columns + kWide - 1) / kWide, gathers = t.tx.taps.taps <= kWide && t.nx < chunks;
    if (gathers) chunks = t.nx;
    pitch = chunks * kWide;
    corner = t.in + static_cast<Index>(low) * kPlanes;
    image_end = t.in + ((t.step_y > 0 ? static_cast<Index>(t.ty.taps.in - 1) * t.step_y : Index(0)) +
                        static_cast<Index>(t.tx.taps.in) * kPlanes);
  }
  // From where on a chunk is in a row of the source.
  PENSTOCK_HD inline Index from(int chunk) const {
    return static_cast<Index>(gathers ? first_x[chunk] - low : chunk * kWide) * kPlanes;
  }
  // Where the taps of an output are in a plane's row.
  PENSTOCK_HD inline int taps_at(int x) const { return gathers ? x * kWide : first_x[x] - low; }
};

// The vertical sums of one chunk.
template <class Stage> struct ResampledChunk {
  static constexpr int kBytes = ResampledTaps<Stage>::kWide * Stage::kPlanes, kWords = kBytes / 4;

  const uint8_t *q, *image_end;  // the chunk in the row that is requested next
  typename Stage::Index step;
  bool inside;
  const float* weight;  // of tap k at weight[k * hop]
  int hop, tap, to;
  float sum[kBytes];

  __device__ inline void filter() {
    uint32_t word[kWords + 1], next[kWords + 1];
    int shift, next_shift;
    words_from<kWords>(q, inside, image_end, word, shift);
    for (int b = 0; b < kBytes; ++b) sum[b] = -0.0f;
    // Words that are waited for stay where they are.
    while (add_row(word, shift, next, next_shift) && add_row(next, next_shift, word, shift)) {
    }
  }

 private:
  // Adds the row of `own` and asks for the next one's words. False: there is none.
  __device__ inline bool add_row(uint32_t (&own)[kWords + 1], int shift, uint32_t (&next)[kWords + 1],
                                 int& next_shift) {
    q += step;
    if (tap + 1 < to) words_from<kWords>(q, inside, image_end, next, next_shift);
    const float factor = weight[tap * hop];
    for (int k = 0; k < kWords; ++k) own[k] = shifted(own[k], own[k + 1], shift);
    PENSTOCK_UNROLL
    for (int b = 0; b < kBytes; ++b) sum[b] = fma(factor, byte_factor<Stage::kAverages>(own[b / 4], b % 4), sum[b]);
    return ++tap < to;
  }
};

template <class Stage> struct ResampledTile {
  typedef typename Stage::Index Index;
  static constexpr int kPlanes = Stage::kPlanes, kWide = ResampledTaps<Stage>::kWide, kRows = 2;
  static constexpr int kKnownTaps = 5;  // loops over up to so many taps are unrolled

  const StageTile<Stage> t;
  const ResampledTaps<Stage> taps;
  int lanes, lane;
  float* rows;  // of this warp

  __device__ inline explicit ResampledTile(const char* table)
      : t(table), taps(t), lanes(blockDim.x < 32 ? 1 : 32), lane(static_cast<int>(threadIdx.x) % lanes) {}

  __device__ inline void make() {
    const int warp = static_cast<int>(threadIdx.x) / lanes, warps = static_cast<int>(blockDim.x) / lanes;
    // Rows of a warp at once.
    const int deep = t.band >= warps * kResampledRows * kPlanes * taps.pitch ? kResampledRows : kRows;
    rows = taps.rows + warp * deep * kPlanes * taps.pitch;
    for (int y1 = warp * deep; y1 < t.ny; y1 += warps * deep) {
      const int nb = t.ny - y1 < deep ? t.ny - y1 : deep;
      for (int i = lane; i < taps.chunks * nb; i += lanes) {
        int r = 0, chunk = i;
        while (chunk >= taps.chunks) chunk -= taps.chunks, ++r;
        vertical(y1 + r, chunk, rows + r * kPlanes * taps.pitch + chunk * kWide);
      }
      __syncwarp();
      for (int i = lane; i < taps.pairs * ((nb + 1) / 2); i += lanes) {
        int part = 0, pair = i;
        while (pair >= taps.pairs) pair -= taps.pairs, ++part;
        horizontal(pair, part, y1 + kRows * part, nb - kRows * part);
      }
      __syncwarp();
    }
  }

 private:
  __device__ inline void vertical(int j, int chunk, float* row) const {
    typedef ResampledChunk<Stage> Chunk;
    const int from = taps.from_y[j], to = taps.to_y[j];
    Chunk c;
    c.q = taps.corner + ((static_cast<Index>(taps.first_y[j]) + from) * t.step_y + taps.from(chunk));
    c.image_end = taps.image_end, c.step = t.step_y;
    c.inside = (t.step_y > 0 ? c.q + (to - 1 - from) * t.step_y : c.q) + Chunk::kBytes + 4 <= taps.image_end;
    c.weight = taps.weight_y + j, c.hop = t.ny, c.tap = from, c.to = to;
    c.filter();
    PENSTOCK_UNROLL
    for (int p = 0; p < kPlanes; ++p) {
      PENSTOCK_UNROLL
      for (int b = 0; b < kWide; b += 4)
        *reinterpret_cast<Vector<float, 4>*>(row + p * taps.pitch +
                                             b) = {c.sum[b * kPlanes + p], c.sum[(b + 1) * kPlanes + p],
                                                   c.sum[(b + 2) * kPlanes + p], c.sum[(b + 3) * kPlanes + p]};
    }
  }
  // Two neighbors of the rows from output row y on, `left` of which there are.
  __device__ inline void horizontal(int pair, int part, int y, int left) const {
    const int x = 2 * pair, count = t.nx - x < 2 ? t.nx - x : 2;
    const float* of_part = rows + part * kRows * kPlanes * taps.pitch;
    const float* near[2] = {of_part + taps.taps_at(x), of_part + taps.taps_at(x + count - 1)};
    float sums[kRows][2][kPlanes];
    PENSTOCK_UNROLL
    for (int k = 0; k < 2 * kRows * kPlanes; ++k) sums[k / (2 * kPlanes)][k / kPlanes % 2][k % kPlanes] = -0.0f;
    if (taps.gathers && t.tx.taps.taps == 4) add_four(near, pair, sums);
    else add_known<2>(near, pair, sums);
    PENSTOCK_UNROLL
    for (int r = 0; r < kRows; ++r) {
      if (r >= left) break;
      t.template group<2>(x, y + r, [&](int j, auto& source) {
        for (int p = 0; p < kPlanes; ++p) StageTile<Stage>::set(source[p], sums[r][j][p]);
      });
    }
  }
  // The sums over four taps that are a vector.
  __device__ inline void add_four(const float* const (&near)[2], int pair, float (&sums)[kRows][2][kPlanes]) const {
    Vector<float, 2> weight[4];
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k)
      weight[k] = *reinterpret_cast<const Vector<float, 2>*>(taps.weight_x + 2 * (k * taps.pairs + pair));
    PENSTOCK_UNROLL
    for (int i = 0; i < 2 * kRows * kPlanes; ++i) {
      const int j = i % 2, p = i / 2 % kPlanes, r = i / (2 * kPlanes);
      const auto four = *reinterpret_cast<const Vector<float, 4>*>(near[j] + (r * kPlanes + p) * taps.pitch);
      PENSTOCK_UNROLL
      for (int k = 0; k < 4; ++k) sums[r][j][p] = fma(weight[k].v[j], four.v[k], sums[r][j][p]);
    }
  }
  // The sums over as many taps as there are: over a known number of them, if it is one of [known, kKnownTaps].
  template <int known>
  __device__ inline void add_known(const float* const (&near)[2], int pair, float (&sums)[kRows][2][kPlanes]) const {
    if constexpr (known > kKnownTaps) add<0>(near, pair, sums);
    else if (t.tx.taps.taps == known) add<known>(near, pair, sums);
    else add_known<known + 1>(near, pair, sums);
  }
  template <int known>
  __device__ inline void add(const float* const (&near)[2], int pair, float (&sums)[kRows][2][kPlanes]) const {
    const int n = known ? known : t.tx.taps.taps;
    PENSTOCK_UNROLL
    for (int k = 0; k < n; ++k) {
      const Vector<float, 2> weight =
          *reinterpret_cast<const Vector<float, 2>*>(taps.weight_x + 2 * (k * taps.pairs + pair));
      PENSTOCK_UNROLL
      for (int r = 0; r < kRows; ++r) PENSTOCK_UNROLL
      for (int j = 0; j < 2; ++j) PENSTOCK_UNROLL
      for (int p = 0; p < kPlanes; ++p)
        sums[r][j][p] = fma(weight.v[j], near[j][(r * kPlanes + p) * taps.pitch + k], sums[r][j][p]);
    }
  }
};

template <class Stage> __device__ inline void tile_resampled(const char* table) { ResampledTile<Stage>(table).make(); }

}  // namespace penstock
