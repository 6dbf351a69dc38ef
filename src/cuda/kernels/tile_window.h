// SPDX-License-Identifier: Apache-2.0
// Convolutions: all outputs have the same weights but those at the border, whose taps fold onto the image. A thread
// filters four elements of eight rows at once, each sample of the source converted once for them, then four pixels of a
// row from neighbors that pass through registers.
#pragma once
#include "cuda/kernels/tile_shared.h"

namespace penstock {

// What a block has in shared memory. A row of the tile is what the source's row is, planes side by side:
// rows[j * pitch + c], where kLead elements before the tile's first column come first.
template <class Stage> struct TileWindow {
  typedef StageTile<Stage> Tile;
  typedef typename Stage::Index Index;
  static constexpr int kX = Stage::kWindowX, kY = Stage::kWindowY, kHalfX = kX / 2, kHalfY = kY / 2;
  static constexpr int kPlanes = Stage::kPlanes, kLead = window_lead(kX, kPlanes), kPad = kLead - kHalfX * kPlanes;
  static constexpr int kRows = 8;  // of a thread
  // Rooms of weights: whole vectors.
  static constexpr int kRoomX = (kX + 3) / 4 * 4, kRoomY = (kY + 3) / 4 * 4;

  const Tile& t;
  Index wx, wy;  // the filters' output that is the tile's first
  float *window_x, *window_y, *rows;
  int pitch;
  int left, right, folded;  // outputs [left, right) of a row have no folded taps; the number of the others
  int32_t *first_y, *from_y, *to_y, *first_x;  // taps [from_y, to_y) are not left out
  float *weight_y, *weight_x;
  Index origin;   // the source's element that is a row's first
  int low, high;  // elements of a row that the tile needs and the source has

  __device__ inline explicit TileWindow(const Tile& tile)
      : t(tile), wx(static_cast<Index>(t.tx.begin) + t.x0), wy(static_cast<Index>(t.ty.begin) + t.y0) {}

  // Taps that fold onto the image need as many samples as there are taps; of a narrow tile's not all are beside it.
  __device__ inline bool fits() const {
    return t.tx.taps.in >= kX && t.ty.taps.in >= kY &&
           (t.nx > kHalfX || (wx >= kHalfX && wx + t.nx + kHalfX <= t.tx.taps.in));
  }
  __device__ inline void begin() {
    PENSTOCK_SHARED(float, all);
    window_x = all, window_y = window_x + kRoomX, rows = window_y + kRoomY;
    copy_window<kX>(t.tx.taps, window_x);
    copy_window<kY>(t.ty.taps, window_y);
    pitch = (kLead + (t.tx.extent + kHalfX) * kPlanes + 3) / 4 * 4;
    left = wx >= kHalfX ? 0 : (kHalfX - wx + 3 < t.nx ? static_cast<int>(kHalfX - wx + 3) / 4 * 4 : t.nx);
    const Index past = static_cast<Index>(t.tx.taps.in) - kHalfX - wx;
    right = past >= t.nx ? t.nx : past / 4 * 4 > left ? static_cast<int>(past / 4 * 4) : left;
    folded = left + t.nx - right;
    first_y = reinterpret_cast<int32_t*>(rows + t.band * pitch), from_y = first_y + t.ny, to_y = from_y + t.ny;
    first_x = to_y + t.ny;
    weight_y = reinterpret_cast<float*>(first_x + folded), weight_x = weight_y + t.ny * kY;
    fold_taps();
    __syncthreads();
    origin = wx * kPlanes - kLead;
    low = origin >= 0 ? kPad : -origin > kPad ? static_cast<int>(-origin) : kPad;
    const Index have = static_cast<Index>(t.tx.taps.in) * kPlanes - origin;
    const int need = kLead + (t.nx + kHalfX) * kPlanes;
    high = have < need ? static_cast<int>(have) : need;
  }

 private:
  template <int taps> __device__ static inline void copy_window(const AxisTaps& from, float* to) {
    if constexpr (taps > 1) {
      for (int k = threadIdx.x; k < taps; k += blockDim.x) to[k] = from.window[k];
    } else {
      to[0] = 1.0f;
    }
  }
  // The taps of outputs at the border.
  __device__ inline void fold_taps() const {
    if (folded > 0) {
      tile_taps<Stage::kFilterX>(t.tx.taps, wx, 1, left, folded, first_x, weight_x);
      tile_taps<Stage::kFilterX>(t.tx.taps, wx + right, 1, t.nx - right, folded, first_x + left, weight_x + left);
    }
    if (t.ny % kRows != 0 || wy < kHalfY || wy + t.ny + kHalfY > t.ty.taps.in) {
      tile_taps<Stage::kFilterY>(t.ty.taps, wy, 1, t.ny, t.ny, first_y, weight_y);
      __syncthreads();
      for (int j = threadIdx.x; j < t.ny; j += blockDim.x) {
        const auto [from, to] = weighted_taps(weight_y + j, t.ny, kY);
        from_y[j] = from, to_y[j] = to;
      }
    }
  }
};

// How a thread reads elements [c, c + kWide) of a row: read(at, value), from row `at` of the source.
template <class Stage> struct RowsOfWords {
  static constexpr int kWide = 4;
  // The conversion unit, otherwise idle, takes all bytes where windows are small, else one in four.
  static constexpr bool kUnit = Stage::kWindowX <= 16 && Stage::kWindowY <= 16;
  const uint8_t* column;
  typename Stage::Index step;

  __device__ inline RowsOfWords(const TileWindow<Stage>& w, int c) : column(w.t.in + w.origin + c), step(w.t.step_y) {}
  __device__ static inline void numbers(uint32_t word, float (&value)[4]) {
    PENSTOCK_UNROLL
    for (int b = 0; b < 4; ++b)
      value[b] = kUnit || b == 0 ? static_cast<float>(word >> 8 * b & 255) : byte_number(word, b);
  }
  __device__ inline void read(typename Stage::Index at, float (&value)[4]) const {
    numbers(*reinterpret_cast<const uint32_t*>(column + at * step), value);
  }
};
// Rows that begin anywhere.
template <class Stage> struct RowsOfBytes : RowsOfWords<Stage> {
  int first, last;  // of the bytes at `column`, those that may be read
  bool whole;

  __device__ inline RowsOfBytes(const TileWindow<Stage>& w, int c)
      : RowsOfWords<Stage>(w, c), first(w.low - c), last(w.high - c), whole(c >= w.low && c + 4 <= w.high) {}
  __device__ inline void read(typename Stage::Index at, float (&value)[4]) const {
    const uint8_t* from = this->column + at * this->step;
    this->numbers(whole ? word_at(from) : bytes_of(from, first, last), value);
  }
};
template <class Stage> struct RowsOfElements {
  static constexpr int kWide = 1;
  const typename StageTile<Stage>::In* column;
  typename Stage::Index step;

  __device__ inline RowsOfElements(const TileWindow<Stage>& w, int c) : step(w.t.step_y) {
    const typename Stage::Index e = w.origin + c, x = e / Stage::kPlanes;
    column = w.t.in + x * w.t.step_x + w.t.plane(static_cast<int>(e % Stage::kPlanes));
  }
  __device__ inline void read(typename Stage::Index at, float (&value)[1]) const {
    value[0] = StageTile<Stage>::number(column[at * step]);
  }
};

template <int room> __device__ inline void weights_from(const float* from, float (&weight)[room]) {
  PENSTOCK_UNROLL
  for (int t = 0; t < room / 4; ++t) {
    const Vector<float, 4> four = reinterpret_cast<const Vector<float, 4>*>(from)[t];
    PENSTOCK_UNROLL
    for (int b = 0; b < 4; ++b) weight[4 * t + b] = four.v[b];
  }
}

// kRows rows, from row j of the tile on, of which none has folded taps.
template <class Window, class Reader, int room>
__device__ inline void filter_down(const Window& w, const Reader& reader, const float (&weight)[room], int j,
                                   float* to) {
  using Index = typename Window::Index;
  constexpr int n = Reader::kWide;
  float sum[Window::kRows][n];
  const Index top = w.wy + j - Window::kHalfY;
  PENSTOCK_UNROLL
  for (int r = 0; r < Window::kRows + Window::kY - 1; ++r) {
    float value[n];
    reader.read(top + r, value);
    PENSTOCK_UNROLL
    for (int k = 0; k < Window::kRows; ++k) {
      const int t = r - k;
      if (t == 0) {
        PENSTOCK_UNROLL for (int b = 0; b < n; ++b) sum[k][b] = weight[0] * value[b];
      } else if (t > 0 && t < Window::kY) {
        PENSTOCK_UNROLL for (int b = 0; b < n; ++b) sum[k][b] = fma(weight[t], value[b], sum[k][b]);
      }
    }
  }
  PENSTOCK_UNROLL
  for (int k = 0; k < Window::kRows; ++k) {
    if constexpr (n == 4)
      *reinterpret_cast<Vector<float, 4>*>(to + k * w.pitch) = {sum[k][0], sum[k][1], sum[k][2], sum[k][3]};
    else to[k * w.pitch] = sum[k][0];
  }
}
// One row, whose taps may be folded.
template <class Window, class Reader>
__device__ inline void filter_row(const Window& w, const Reader& reader, int j, float* to) {
  constexpr int n = Reader::kWide;
  float sum[n];
  for (int k = w.from_y[j]; k < w.to_y[j]; ++k) {
    const float folded = w.weight_y[k * w.t.ny + j];
    float value[n];
    reader.read(w.first_y[j] + k, value);
    PENSTOCK_UNROLL
    for (int b = 0; b < n; ++b) sum[b] = k == w.from_y[j] ? folded * value[b] : fma(folded, value[b], sum[b]);
  }
  PENSTOCK_UNROLL
  for (int b = 0; b < n; ++b) to[b] = sum[b];
}
// Rows [y1, y1 + nb) of the tile, vertically.
template <class Reader, class Window, int room>
__device__ inline void filter_rows(const Window& w, const float (&weight)[room], int y1, int nb) {
  constexpr int kRows = Window::kRows, n = Reader::kWide;
  const int c0 = w.low / n * n, chunks = (w.high - c0 + n - 1) / n;
  for (int i = threadIdx.x; i < chunks * ((nb + kRows - 1) / kRows); i += blockDim.x) {
    int j = y1, k = i;
    while (k >= chunks) k -= chunks, j += kRows;
    const int c = c0 + n * k;
    const Reader reader(w, c);
    if (j + kRows <= y1 + nb && w.wy + j >= Window::kHalfY && w.wy + j + kRows - 1 + Window::kHalfY < w.t.ty.taps.in) {
      filter_down(w, reader, weight, j, w.rows + (j - y1) * w.pitch + c);
    } else {
      for (int y = j; y < j + kRows && y < y1 + nb; ++y) filter_row(w, reader, y, w.rows + (y - y1) * w.pitch + c);
    }
  }
}
template <class Stage> __device__ inline void filter_vertically(const TileWindow<Stage>& w, int y1, int nb) {
  float weight[TileWindow<Stage>::kRoomY];
  weights_from(w.window_y, weight);
  if constexpr (StageTile<Stage>::kBytes && !Stage::kRow.picks_planes) {
    if (w.t.beside() && w.t.step_x > 0) {
      if (((reinterpret_cast<uint64_t>(w.t.in + w.origin) | w.t.step_y) & 3) == 0)
        filter_rows<RowsOfWords<Stage>>(w, weight, y1, nb);
      else filter_rows<RowsOfBytes<Stage>>(w, weight, y1, nb);
      return;
    }
  }
  filter_rows<RowsOfElements<Stage>>(w, weight, y1, nb);
}

// Four neighbors of a row, from the first one's pixel in `near`, none of whose taps is folded.
template <class Stage, int room>
__device__ inline void filter_across(const float* row, const float (&weight)[room], float (&sums)[4][Stage::kPlanes]) {
  using Window = TileWindow<Stage>;
  constexpr int kPad = Window::kPad, P = Stage::kPlanes, kVectors = (kPad + (Window::kX + 3) * P + 3) / 4;
  const Vector<float, 4>* near = reinterpret_cast<const Vector<float, 4>*>(row);
  PENSTOCK_UNROLL
  for (int k = 0; k < kVectors; ++k) {
    const Vector<float, 4> four = near[k];
    PENSTOCK_UNROLL
    for (int b = 0; b < 4; ++b) {
      const int e = 4 * k + b - kPad, column = e / P, p = e % P;
      PENSTOCK_UNROLL
      for (int j = 0; j < 4; ++j) {
        const int t = column - j;
        if (e >= 0 && t == 0) sums[j][p] = weight[0] * four.v[b];
        else if (e >= 0 && t > 0 && t < Window::kX) sums[j][p] = fma(weight[t], four.v[b], sums[j][p]);
      }
    }
  }
}
template <class Stage> __device__ inline void make_inner(const TileWindow<Stage>& w, int y1, int nb) {
  constexpr int P = Stage::kPlanes;
  const StageTile<Stage>& t = w.t;
  float weight[TileWindow<Stage>::kRoomX];
  weights_from(w.window_x, weight);
  const int across = (t.tx.extent + 3) / 4, shift = log2_of(across);  // tiles are powers of two wide
  for (int i = threadIdx.x; i < across * nb; i += blockDim.x) {
    const int y = y1 + (i >> shift), x = (i & (across - 1)) * 4;
    if (x < w.left || x >= w.right) continue;
    float sums[4][P];
    filter_across<Stage>(w.rows + (y - y1) * w.pitch + x * P, weight, sums);
    t.template group<4>(x, y, [&](int j, auto& source) {
      for (int p = 0; p < P; ++p) t.set(source[p], sums[j][p]);
    });
  }
}
// The outputs of a row that have folded taps.
template <class Stage> __device__ inline void make_folded(const TileWindow<Stage>& w, int y1, int nb) {
  using Window = TileWindow<Stage>;
  constexpr int P = Stage::kPlanes;
  const StageTile<Stage>& t = w.t;
  for (int i = threadIdx.x; i < w.folded * nb; i += blockDim.x) {
    const int y = y1 + i / w.folded, k = i % w.folded, x = k < w.left ? k : k - w.left + w.right;
    t.template group<1>(x, y, [&](int, auto& source) {
      const float* near = w.rows + (y - y1) * w.pitch + (Window::kLead + (w.first_x[k] - static_cast<int>(w.wx)) * P);
      float sums[P], weight = w.weight_x[k];
      for (int p = 0; p < P; ++p) sums[p] = weight * near[p];
      for (int n = 1; n < Window::kX; ++n) {
        near += P, weight = w.weight_x[n * w.folded + k];
        for (int p = 0; p < P; ++p) sums[p] = fma(weight, near[p], sums[p]);
      }
      for (int p = 0; p < P; ++p) t.set(source[p], sums[p]);
    });
  }
}

template <class Stage> __device__ inline void tile_window(const char* table) {
  const StageTile<Stage> t(table);
  TileWindow<Stage> w(t);
  if (!w.fits()) return filter_tile(t);
  w.begin();
  for (int y1 = 0; y1 < t.ny; y1 += t.band) {
    const int nb = t.ny - y1 < t.band ? t.ny - y1 : t.band;
    if (y1 > 0) __syncthreads();
    filter_vertically(w, y1, nb);
    __syncthreads();
    make_inner(w, y1, nb);
    if (w.folded > 0) make_folded(w, y1, nb);
  }
}

}  // namespace penstock
