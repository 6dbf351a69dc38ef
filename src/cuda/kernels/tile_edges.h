// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes: which outputs of a tile have taps that fold onto the image, and these outputs, each by itself.
#pragma once
#include "cuda/kernels/tiles.h"

namespace penstock {

// Outputs [left, right) x [top, bottom) of a tile have no folded taps. Columns are whole groups of `step`.
template <class Stage> struct UnfoldedPart {
  typedef typename Stage::Index Index;
  Index wx, wy;  // the filters' output at the tile's corner
  int left, right, top, bottom;
  int columns, rows;  // of the tile that are not among these

  PENSTOCK_HD inline UnfoldedPart(const StageTile<Stage>& t, int step)
      : wx(static_cast<Index>(t.tx.begin) + t.x0), wy(static_cast<Index>(t.ty.begin) + t.y0) {
    part(t.nx, t.tx.taps.in, Stage::kWindowX, wx, step, left, right);
    part(t.ny, t.ty.taps.in, Stage::kWindowY, wy, 1, top, bottom);
    columns = left + t.nx - right, rows = top + t.ny - bottom;
  }
  // The taps of the other columns: weight k of column i at folded[k * columns + i].
  __device__ inline void fold_columns(const StageTile<Stage>& t, int32_t* first, float* folded) const {
    tile_taps<Stage::kFilterX>(t.tx.taps, wx, 1, left, columns, first, folded);
    tile_taps<Stage::kFilterX>(t.tx.taps, wx + right, 1, t.nx - right, columns, first + left, folded + left);
  }

 private:
  // Of n outputs from `from` on those in [low, high).
  PENSTOCK_HD static inline void part(int n, int64_t in, int taps, Index from, int step, int& low, int& high) {
    low = n, high = n;
    if (in < taps) return;
    const Index begin = taps / 2 - from + step - 1, end = static_cast<Index>(in) - taps / 2 - from;
    low = from >= taps / 2 ? 0 : begin < n ? static_cast<int>(begin) / step * step : n;
    high = end >= n ? n / step * step : end > low ? static_cast<int>(end) / step * step : low;
    if (high < low) high = low;
  }
};

// The taps of one output along an axis: weight k is weights[k * hop].
template <class Index> struct OutputsTaps {
  Index first;
  const float* weights;
  int hop;
};

// The outputs around the unfolded part.
template <class Stage> struct TileEdges {
  typedef typename Stage::Index Index;
  static constexpr int kPlanes = Stage::kPlanes, kTapsX = Stage::kWindowX, kTapsY = Stage::kWindowY;

  const StageTile<Stage> t;
  const UnfoldedPart<Stage> part;
  int32_t *first_x, *first_y;
  float *folded_x, *folded_y;

  __device__ inline TileEdges(const StageTile<Stage>& tile, const UnfoldedPart<Stage>& unfolded)
      : t(tile), part(unfolded) {
    PENSTOCK_SHARED(int32_t, all);
    const int fx = part.columns, fy = part.rows;
    first_x = all, first_y = first_x + fx;
    folded_x = reinterpret_cast<float*>(first_y + fy), folded_y = folded_x + fx * t.tx.taps.taps;
    part.fold_columns(t, first_x, folded_x);
    tile_taps<Stage::kFilterY>(t.ty.taps, part.wy, 1, part.top, fy, first_y, folded_y, 32);
    tile_taps<Stage::kFilterY>(t.ty.taps, part.wy + part.bottom, 1, t.ny - part.bottom, fy, first_y + part.top,
                               folded_y + part.top, 32);
    __syncthreads();
  }

  // All of them, shared by the block's threads.
  __device__ inline void make() const {
    const int fx = part.columns, fy = part.rows;
    const float one[1] = {1.0f};
    const float *window_x = kTapsX > 1 ? t.tx.taps.window : one, *window_y = kTapsY > 1 ? t.ty.taps.window : one;
    for (int i = threadIdx.x; i < fy * t.nx + (t.ny - fy) * fx; i += blockDim.x) {
      int x, y;
      place(i, x, y);
      t.template group<1>(x, y, [&](int, typename Stage::SourceNumber(&source)[kPlanes]) {
        float result[kPlanes];
        sums(taps(x, part.left, part.right, part.wx - kTapsX / 2, window_x, fx, first_x, folded_x),
             taps(y, part.top, part.bottom, part.wy - kTapsY / 2, window_y, fy, first_y, folded_y), result);
        for (int p = 0; p < kPlanes; ++p) t.set(source[p], result[p]);
      });
    }
  }

 private:
  // The place of output i: rows first that are folded as a whole, then the other rows' columns.
  PENSTOCK_HD inline void place(int i, int& x, int& y) const {
    const int fx = part.columns, fy = part.rows;
    if (i < fy * t.nx) {
      y = i / t.nx, x = i - y * t.nx, y = y < part.top ? y : y - part.top + part.bottom;
    } else {
      y = (i - fy * t.nx) / fx, x = i - fy * t.nx - y * fx, y += part.top;
      x = x < part.left ? x : x - part.left + part.right;
    }
  }
  // Of output `at`: the window from `from` on where it is in [low, high), otherwise one of `n` folded ones.
  PENSTOCK_HD static inline OutputsTaps<Index> taps(int at, int low, int high, Index from, const float* window, int n,
                                                    const int32_t* first, const float* folded) {
    const bool inside = at >= low && at < high;
    const int k = at < low ? at : at - high + low;
    return {inside ? from + at : static_cast<Index>(first[k]), inside ? window : folded + k, inside ? 1 : n};
  }
  __device__ inline void sums(const OutputsTaps<Index>& x, const OutputsTaps<Index>& y,
                              float (&result)[kPlanes]) const {
    const uint8_t* corner = t.in + (y.first * t.step_y + x.first * kPlanes);
    if constexpr (Stage::kAverages) {
      if (t.tx.taps.taps == kTapsX && t.ty.taps.taps == kTapsY) {  // as of all but small images
        window_sums(corner, x, y, result);
        return;
      }
    }
    any_sums(corner, x, y, result);
  }
  __device__ inline void window_sums(const uint8_t* corner, const OutputsTaps<Index>& x, const OutputsTaps<Index>& y,
                                     float (&result)[kPlanes]) const {
    float of_x[kTapsX], of_y[kTapsY];
    PENSTOCK_UNROLL
    for (int a = 0; a < kTapsX; ++a) of_x[a] = x.weights[a * x.hop];
    PENSTOCK_UNROLL
    for (int b = 0; b < kTapsY; ++b) of_y[b] = y.weights[b * y.hop];
    for (int p = 0; p < kPlanes; ++p) {
      float values[kTapsX][kTapsY];
      PENSTOCK_UNROLL
      for (int a = 0; a < kTapsX; ++a) {
        PENSTOCK_UNROLL
        for (int b = 0; b < kTapsY; ++b) values[a][b] = static_cast<float>(corner[a * kPlanes + p + b * t.step_y]);
      }
      float sum = 0;
      PENSTOCK_UNROLL
      for (int a = 0; a < kTapsX; ++a) {
        float of_column = of_y[0] * values[a][0];
        PENSTOCK_UNROLL
        for (int b = 1; b < kTapsY; ++b) of_column = fma(of_y[b], values[a][b], of_column);
        sum = a == 0 ? of_x[0] * of_column : fma(of_x[a], of_column, sum);
      }
      result[p] = sum;
    }
  }
  // Of any number of taps.
  __device__ inline void any_sums(const uint8_t* corner, const OutputsTaps<Index>& x, const OutputsTaps<Index>& y,
                                  float (&result)[kPlanes]) const {
    const auto [from, to] = weighted_taps(y.weights, y.hop, t.ty.taps.taps);
    for (int p = 0; p < kPlanes; ++p) {
      float sum = 0;
      for (int a = 0; a < t.tx.taps.taps; ++a) {
        const uint8_t* column = corner + (a * kPlanes + p);
        float of_column = y.weights[from * y.hop] * t.number(column[from * t.step_y]);
        for (int b = from + 1; b < to; ++b)
          of_column = fma(y.weights[b * y.hop], t.number(column[b * t.step_y]), of_column);
        sum = a == 0 ? x.weights[0] * of_column : fma(x.weights[a * x.hop], of_column, sum);
      }
      result[p] = sum;
    }
  }
};

template <class Stage>
__device__ inline void make_edges(const StageTile<Stage>& t, const UnfoldedPart<Stage>& part) {
  if (part.columns + part.rows > 0) TileEdges<Stage>(t, part).make();
}

}  // namespace penstock
