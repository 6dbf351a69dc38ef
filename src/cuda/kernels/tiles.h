// SPDX-License-Identifier: Apache-2.0
// Height and width after taps: a block makes one tile of the output. What all such kernels share: the tile's place, the
// outputs in it that read the input, groups of neighbors. How the source's values are made is in tile_*.h. The order of
// sums is the CPU's.
#pragma once
#include "cuda/kernels/bytes.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/tile_taps.h"

namespace penstock {

// Neighbors that a thread makes where it reads the source itself. Of wide elements, neighboring threads should read
// neighbors: with four of them for each thread, a warp reads from four times as many lines of the cache at once.
template <class Stage>
constexpr int kReadTogether = sizeof(typename Stage::template In<0>) >= 4 && sizeof(typename Stage::Out) >= 4 ? 1 : 4;

template <class Stage> struct StageTile {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  typedef typename Stage::template In<0> In;
  static constexpr int kX = Stage::kRow.dims - 1, kY = kX - 1, kPlanes = Stage::kPlanes;
  static constexpr bool kFills = Stage::kRow.fills, kFrames = kReadsFrames<Stage>,
                        kBytes = std::is_same_v<In, uint8_t> && !kFrames;

  StageBlock<Stage> block;
  typename Stage::Coefs coefs;
  StageStore<Stage> store;
  TileAxis tx, ty;
  int band;              // rows that are in shared memory at once
  Index step_x, step_y;  // elements of the source from tap to tap
  Index row_out;         // from output row to output row
  Index plane_in = 0;    // from plane to plane of the source
  const int32_t* pick = nullptr;
  SourceOf<Stage> in;  // of this tile's outer dimensions
  Out* out;
  Index x0, y0;  // the tile's corner
  int nx, ny;    // its outputs
  // Outputs of the tile that read the input, counted from the corner: [bx, cx) x [by, cy), mx x my of them. The first
  // is output (tap_x0, tap_y0) of the filters.
  int bx = 0, by = 0, cx, cy, mx, my;
  Index tap_x0, tap_y0;

  __device__ inline explicit StageTile(const char* table)
      : block(table), coefs(block.coefs + block.row.head().coefs), store(block, kX), in(block.in.own), out(block.out) {
    const TileRow& tile = block.row.tile();
    const int64_t grown = Stage::kOneRow ? block.entry * head().window_step : 0;
    tx = tile_axis(table + grown, tile.x), ty = tile_axis(table + grown, tile.y);
    band = static_cast<int>(tile.band);
    step_x = static_cast<Index>(tx.hop), step_y = static_cast<Index>(ty.hop);
    row_out = static_cast<Index>(block.row.dim(kY).out_stride);
    if constexpr (Stage::kRow.has_plane) plane_in = static_cast<Index>(block.row.plane().in_stride[0]);
    if constexpr (Stage::kRow.picks_planes) pick = reinterpret_cast<const int32_t*>(table + block.row.plane_pick());
    const bool all_fill = place();
    if constexpr (kFills) {
      const LoopRow &dim_x = block.row.dim(kX), &dim_y = block.row.dim(kY);
      reads(static_cast<Index>(dim_x.lo) - x0, static_cast<Index>(dim_x.hi) - x0, nx, all_fill, bx, cx);
      reads(static_cast<Index>(dim_y.lo) - y0, static_cast<Index>(dim_y.hi) - y0, ny, all_fill, by, cy);
      tap_x0 = x0 + bx - static_cast<Index>(dim_x.lo), tap_y0 = y0 + by - static_cast<Index>(dim_y.lo);
    } else {
      cx = nx, cy = ny, tap_x0 = x0, tap_y0 = y0;
    }
    mx = cx - bx, my = cy - by;
  }

  // The source's pixels are contiguous, forward or backward. Computed at each use, not kept in a register.
  PENSTOCK_HD inline bool beside() const {
    return (kPlanes == 1 || plane_in == 1) && (step_x == kPlanes || step_x == -kPlanes);
  }
  // The offset of plane p in the source.
  PENSTOCK_HD inline Index plane(int p) const {
    if constexpr (!Stage::kRow.has_plane) return 0;
    else if constexpr (Stage::kRow.picks_planes) return static_cast<Index>(pick[p]) * plane_in;
    else return p * plane_in;
  }
  // Whether pixels of frames are read with all their channels, in their order.
  PENSTOCK_HD inline bool reads_pixels() const {
    if constexpr (kFrames) return Stage::Frame::kChannels == kPlanes && (kPlanes == 1 || plane_in == 1);
    return false;
  }
  PENSTOCK_HD static inline float number(In v) { return number_of<In, float>(v); }

  // Makes q neighbors from output (x, y) of the tile on. make(j, source) sets the source's value of neighbor j.
  template <int q, class Make> __device__ inline void group(int x, int y, const Make& make) const {
    const int count = nx - x < q ? nx - x : q;
    Out* to = out + ((x0 + x) * store.x + (y0 + y) * row_out);
    const auto reads_input = [&](int j) { return kFills ? x + j >= bx && x + j < cx && y >= by && y < cy : j < count; };
    Out results[q][Stage::kOutPlanes];
    sampled_results<Stage, q>(coefs, block.fault, make, reads_input, results);
    const bool full = count == q && (!kFills || (y >= by && y < cy && x >= bx && x + q <= cx));
    store.group(to, count, full, [&](int j) { return !reads_input(j); }, results);
  }
  // All groups of rows [y1, y1 + rows) of the tile, shared by the block's threads: make(x, y, j, source).
  template <int q, class Make> __device__ inline void groups(int y1, int rows, const Make& make) const {
    const int across = (tx.extent + q - 1) / q, shift = log2_of(across);  // tiles are powers of two wide
    for (int i = threadIdx.x; i < across * rows; i += blockDim.x) {
      const int y = y1 + (i >> shift), x = (i & (across - 1)) * q;
      if (x >= nx) continue;
      group<q>(x, y, [&](int j, auto& source) { make(x, y, j, source); });
    }
  }
  // The taps of output j of a group, counted from tap_x0 and tap_y0. An output that reads nothing takes those of one
  // that does; false: none does.
  PENSTOCK_HD inline bool tap_place(int x, int y, int j, int& tap_x, int& tap_y) const {
    if constexpr (kFills) {
      if (mx <= 0 || my <= 0) return false;
      tap_x = x + j - bx, tap_y = y - by;
      tap_x = tap_x < 0 ? 0 : tap_x < mx ? tap_x : mx - 1;
      tap_y = tap_y < 0 ? 0 : tap_y < my ? tap_y : my - 1;
    } else {
      tap_x = x + j < nx ? x + j : nx - 1, tap_y = y;
    }
    return true;
  }
  PENSTOCK_HD static inline void set(typename Stage::SourceNumber& source, float sum) {
    source = change_lane<float, typename Stage::SourceNumber>(sum);
  }

 private:
  PENSTOCK_HD inline const TableHeader& head() const { return *reinterpret_cast<const TableHeader*>(block.table); }
  // Blocks count tiles along x, then y, then the outer dimensions. True: the tile is fill alone.
  __device__ inline bool place() {
    const Index width = static_cast<Index>(block.row.dim(kX).extent),
                height = static_cast<Index>(block.row.dim(kY).extent);
    const Index tiles_x = (width + tx.extent - 1) / tx.extent, tiles_y = (height + ty.extent - 1) / ty.extent;
    Index rest = static_cast<Index>(block.number);
    x0 = rest % tiles_x * tx.extent, rest /= tiles_x;
    y0 = rest % tiles_y * ty.extent, rest /= tiles_y;
    bool all_fill = false;
    PENSTOCK_UNROLL
    for (int d = kY - 1; d >= 0; --d) {
      const LoopRow& dim = block.row.dim(d);
      const Index extent = static_cast<Index>(dim.extent), q = rest % extent;
      rest /= extent;
      out += q * static_cast<Index>(dim.out_stride), in += q * static_cast<Index>(dim.in_stride[0]);
      if constexpr (kFills) all_fill |= q < static_cast<Index>(dim.lo) || q >= static_cast<Index>(dim.hi);
    }
    nx = static_cast<int>(width - x0 < tx.extent ? width - x0 : tx.extent);
    ny = static_cast<int>(height - y0 < ty.extent ? height - y0 : ty.extent);
    return all_fill;
  }
  // Of n outputs those in [lo, hi): from `first` to `last`.
  PENSTOCK_HD static inline void reads(Index lo, Index hi, int n, bool none, int& first, int& last) {
    first = static_cast<int>(lo > 0 ? (lo < n ? lo : n) : 0);
    last = none ? first : static_cast<int>(hi < n ? (hi > first ? hi : first) : n);
  }
};

// The taps of all outputs of a tile, in shared memory.
template <class Stage> struct TapsOfTile {
  int32_t *first_x, *first_y;
  float *weight_x, *weight_y;  // weight k of output i at [k * nx + i], [k * ny + i]

  __device__ inline explicit TapsOfTile(const StageTile<Stage>& t) {
    PENSTOCK_SHARED(int32_t, all);
    first_x = all, first_y = first_x + t.nx;
    weight_x = reinterpret_cast<float*>(first_y + t.ny), weight_y = weight_x + t.nx * t.tx.taps.taps;
    tile_taps<Stage::kFilterX>(t.tx.taps, t.tx.begin + t.tx.step * t.tap_x0, t.tx.step, t.mx, t.nx, first_x, weight_x);
    tile_taps<Stage::kFilterY>(t.ty.taps, t.ty.begin + t.ty.step * t.tap_y0, t.ty.step, t.my, t.ny, first_y, weight_y,
                               (t.mx + 31) / 32 * 32);
    __syncthreads();
  }
};

}  // namespace penstock
