// SPDX-License-Identifier: Apache-2.0
// Affine maps of images in float32. A warp makes a small rectangle of outputs: rotated, it still lies in few lines of
// memory. Its lanes read neighbors, so that they share these lines, and exchange results through shared memory, so that
// they store neighbors too.
#pragma once
#include "cuda/kernels/warp_lanes.h"
#include "cuda/kernels/warp_samples.h"

namespace penstock {

// Where rectangles are whose numbers grow: kWarpStack of them lie one below the other, as the warps of a block take
// them; such stacks follow along x, then y, then the outer dimensions.
template <class Index> struct WarpTiles {
  Index across, down;  // stacks of an image

  PENSTOCK_HD inline WarpTiles(Index width, Index height)
      : across((width + kWarpAcross * kWarpGroup - 1) / (kWarpAcross * kWarpGroup)),
        down((height + kWarpDown * kWarpStack - 1) / (kWarpDown * kWarpStack)) {}
  // The first position of a rectangle.
  PENSTOCK_HD inline void place(Index rectangle, Index& x, Index& y, Index& outer) const {
    const Index stack = rectangle / kWarpStack, row = stack / across;
    outer = row / down;
    x = (stack - row * across) * (kWarpAcross * kWarpGroup);
    y = ((row - outer * down) * kWarpStack + rectangle % kWarpStack) * kWarpDown;
  }
};

// The outputs of a warp. Lane 8 r + c computes those of row r from column c on, every eighth; then it has four
// neighbors of that row, or, if rows are whole words, words of all rows.
template <class Stage> struct WarpOutputs {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  typedef typename Stage::template In<0> In;
  static constexpr int q = kWarpGroup, kX = Stage::kWarpX, kY = Stage::kWarpY, kMade = Stage::kOutPlanes;
  static constexpr int kPitch = kExchangePitch * kMade;  // elements of a row
  static constexpr bool kFills = Stage::kRow.fills;

  const StageBlock<Stage> b;
  const StageLoops<Stage> loops;
  const typename Stage::Coefs coefs;
  const StageStore<Stage> store;
  Out* exchange;  // of this warp

  // A rectangle. `reads`: where the outer dimensions are.
  struct Place {
    const In* image;
    Out* out;
    Index x, y;
    bool reads;
  };

  __device__ inline explicit WarpOutputs(const char* table)
      : b(table), loops(b.row), coefs(b.coefs + b.row.head().coefs), store(b, kX) {
    PENSTOCK_SHARED(Out, all);
    exchange = all + static_cast<int>(threadIdx.x / 32) * (kWarpDown * kPitch);
  }

  // The rectangles of a block's warp. Blocks that run together take neighbors: a sample's blocks go through it at the
  // same pace.
  __device__ inline void make() const {
    const ImageWarp<Stage> warp(b, loops);
    const Index warps = static_cast<Index>((blockDim.x + 31) / 32), hop = static_cast<Index>(b.blocks()) * warps;
    const Index first = static_cast<Index>(b.number) * warps + static_cast<Index>(threadIdx.x / 32);
    const Index all = static_cast<Index>(b.row.head().positions / 32);
    const WarpTiles<Index> tiles(loops.extent[kX], loops.extent[kY]);
    for (Index i = first; i < all; i += hop) {
      Index x, y, outer;
      tiles.place(i, x, y, outer);
      if (y >= loops.extent[kY]) continue;
      const Place at = place(x, y, outer);
      for (int u = 0; u < kOwnLanes; ++u) compute(warp, at, lane_of(u) & (kWarpAcross - 1), lane_of(u) / kWarpAcross);
      __syncwarp();
      if (!kFills && sizeof(Out) == 4 && store.interleaved) {
        store_words(at);
      } else {
        for (int u = 0; u < kOwnLanes; ++u)
          store_neighbors(at, lane_of(u) & (kWarpAcross - 1), lane_of(u) / kWarpAcross);
      }
      __syncwarp();
    }
  }

 private:
  __device__ inline Place place(Index x, Index y, Index rest) const {
    Place at{b.in.own, b.out + (y * loops.out[kY] + x * loops.out[kX]), x, y, true};
    PENSTOCK_UNROLL
    for (int d = kY - 1; d >= 0; --d) {
      const Index q = d > 0 ? rest % loops.extent[d] : rest;
      rest /= loops.extent[d];
      at.image += q * loops.in[0][d], at.out += q * loops.out[d];
      if constexpr (kFills) at.reads = at.reads && q >= loops.lo[d] && q < loops.hi[d];
    }
    return at;
  }
  // Whether output (c, r) of the rectangle reads the source.
  PENSTOCK_HD inline bool reads_at(const Place& at, int c, int r) const {
    if constexpr (kFills)
      return at.reads && at.x + c >= loops.lo[kX] && at.x + c < loops.hi[kX] && at.y + r >= loops.lo[kY] &&
             at.y + r < loops.hi[kY];
    return at.x + c < loops.extent[kX];
  }
  __device__ inline void compute(const ImageWarp<Stage>& warp, const Place& at, int c, int r) const {
    if (at.y + r >= loops.extent[kY] || at.x + c >= loops.extent[kX]) return;
    typename ImageWarp<Stage>::Group g;
    warp.values(at.image, at.x + c, at.y + r, g);
    Out results[q][kMade];
    sampled_results<Stage, q>(
        coefs, b.fault,
        [&](int j, auto& source) {
          for (int p = 0; p < Stage::kPlanes; ++p) source[p] = g[j][p];
        },
        [&](int j) { return reads_at(at, c + j * kWarpAcross, r); }, results);
    Out* to = exchange + r * kPitch + c * kMade;
    PENSTOCK_UNROLL
    for (int j = 0; j < q; ++j)
      for (int p = 0; p < kMade; ++p) to[j * kWarpAcross * kMade + p] = results[j][p];
  }
  __device__ inline void store_words(const Place& at) const {
    const Index left = (loops.extent[kX] - at.x) * kMade, down = loops.extent[kY] - at.y;
    PENSTOCK_UNROLL
    for (int r = 0; r < kWarpDown; ++r) {
      if (r >= down) break;
      Out* to = at.out + r * loops.out[kY];
      PENSTOCK_UNROLL
      for (int k = 0; k < kMade; ++k)
        for (int u = 0; u < kOwnLanes; ++u) {
          const int i = k * 32 + lane_of(u);
          if (i < left) to[i] = exchange[r * kPitch + i];
        }
    }
  }
  __device__ inline void store_neighbors(const Place& at, int group, int r) const {
    const int c = group * q;
    if (at.y + r >= loops.extent[kY] || at.x + c >= loops.extent[kX]) return;
    const Index left = loops.extent[kX] - at.x - c;
    const int count = left < q ? static_cast<int>(left) : q;
    Out results[q][kMade];
    PENSTOCK_UNROLL
    for (int j = 0; j < q; ++j)
      for (int p = 0; p < kMade; ++p) results[j][p] = exchange[r * kPitch + (c + j) * kMade + p];
    const bool full = count == q && (!kFills || (reads_at(at, c, r) && reads_at(at, c + q - 1, r)));
    store.group(
        at.out + (r * loops.out[kY] + c * loops.out[kX]), count, full, [&](int j) { return !reads_at(at, c + j, r); },
        results);
  }
};

template <class Stage> __device__ inline void image_warp(const char* table) { WarpOutputs<Stage>(table).make(); }

}  // namespace penstock
