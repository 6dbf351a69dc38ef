// SPDX-License-Identifier: Apache-2.0
// Affine maps of images whose elements are wider than bytes, in float32. A block makes 32 x 32 outputs: the box of the
// source that they read comes to shared memory row by row, as it lies in memory. A warp takes a row of outputs at a
// time and exchanges results through shared memory, so that its lanes store neighboring elements.
#pragma once
#include "cuda/kernels/box_tile.h"
#include "cuda/kernels/stage_group.h"
#include "cuda/kernels/warp_lanes.h"
#include "cuda/kernels/warp_samples.h"

namespace penstock {

// The box of the source that a tile reads: its corner and its extents.
template <class Stage> struct ElementBox {
  typedef typename Stage::template In<0> In;
  typedef BoxTile<Stage, kElementTile> Tile;
  static constexpr int kPlanes = Stage::kPlanes, kPitch = kElementPitch * kPlanes;  // elements
  static constexpr int kHops = (kPitch + 31) / 32;                                  // of a warp in a row

  int x0, y0, columns, rows;

  __device__ inline ElementBox(const Tile& t, const BoxStart* start) {
    const BoxStart first = start[0], last = start[t.tall - 1];
    const int64_t across_x = (t.wide - 1) * t.step_x, across_y = (t.wide - 1) * t.step_y;
    x0 = lowest_sample(first.x, last.x, across_x), y0 = lowest_sample(first.y, last.y, across_y);
    columns = highest_sample(first.x, last.x, across_x) + 2 - x0;
    rows = highest_sample(first.y, last.y, across_y) + 2 - y0;
  }
  template <int warps> __device__ inline void fill(const Tile& t, In* box) const {
    const bool inside = x0 >= 0 && x0 + columns <= t.width && y0 >= 0 && y0 + rows <= t.height;
    for (int own = 0; own < kOwnWarps<warps>; ++own) {
      if (inside) copy_rows<warps>(t, warp_of(own), box);
      else border_rows<warps>(t, warp_of(own), box);
    }
    __syncthreads();
  }

 private:
  template <int warps> __device__ inline void copy_rows(const Tile& t, int warp, In* box) const {
    const In* corner = t.image + (static_cast<int64_t>(y0) * t.row_in + x0 * kPlanes);
    const int n = columns * kPlanes;
    PENSTOCK_UNROLL_TWICE
    for (int r = warp; r < rows; r += warps) {
      const In* from = corner + r * t.row_in;
      In* to = box + r * kPitch;
      PENSTOCK_UNROLL
      for (int k = 0; k < kHops; ++k)
        for (int u = 0; u < kOwnLanes; ++u)
          if (const int i = k * 32 + lane_of(u); i < n) to[i] = from[i];
    }
  }
  template <int warps> __device__ inline void border_rows(const Tile& t, int warp, In* box) const {
    const WarpSource& source = t.map.source;
    const bool fills = source.border_fill != 0;
    const In outside = element_of<float, In>(*reinterpret_cast<const float*>(t.table + source.fill));
    PENSTOCK_ROLLED
    for (int r = warp; r < rows; r += warps) {
      const int y = clamp(y0 + r, 0, t.height - 1);
      const In* from = t.image + static_cast<int64_t>(y) * t.row_in;
      PENSTOCK_ROLLED
      for (int k = 0; k < kHops; ++k)
        for (int u = 0; u < kOwnLanes; ++u) {
          const int i = k * 32 + lane_of(u), pixel = i / kPlanes;
          if (pixel >= columns) continue;
          const int x = clamp(x0 + pixel, 0, t.width - 1);
          const bool out = fills && (y != y0 + r || x != x0 + pixel);
          box[r * kPitch + i] = out ? outside : from[x * kPlanes + (i - pixel * kPlanes)];
        }
    }
  }
};

// The outputs of a warp: lane c makes column c of a row.
template <class Stage> struct ElementOutputs {
  typedef typename Stage::Index Index;
  typedef typename Stage::Out Out;
  typedef typename Stage::template In<0> In;
  typedef BoxTile<Stage, kElementTile> Tile;
  static constexpr int kPlanes = Stage::kPlanes, kMade = Stage::kOutPlanes, kPitch = ElementBox<Stage>::kPitch;

  const Tile& tile;
  const StageStore<Stage>& store;
  const typename Stage::Coefs& coefs;
  int32_t* fault;
  const BoxStart* start;
  const In* box;
  Out* exchange;  // of this warp
  int64_t origin_x, origin_y;

  // Row r of the tile.
  __device__ inline void make(int r) const {
    Out results[kOwnLanes][kMade];
    const BoxStart at = start[r];
    for (int u = 0; u < kOwnLanes; ++u) {
      const int lane = lane_of(u);
      Out one[1][kMade];
      sampled_results<Stage, 1>(
          coefs, fault,
          [&](int, auto& source) {
            read(at.x - origin_x + lane * tile.step_x, at.y - origin_y + lane * tile.step_y, source);
          },
          [&](int) { return tile.left + lane < tile.end_x; }, one);
      for (int p = 0; p < kMade; ++p) results[u][p] = one[0][p];
    }
    put(r, results);
  }

 private:
  template <class Source> __device__ inline void read(int64_t px, int64_t py, Source& to) const {
    const In* corner = box + (affine_at(py) * kPitch + affine_at(px) * kPlanes);
    if constexpr (Stage::kNearest) {
      for (int p = 0; p < kPlanes; ++p) to[p] = number_of<In, float>(corner[p]);
    } else {
      const NeighborBlend<false> blend(px, py);
      for (int p = 0; p < kPlanes; ++p)
        to[p] = blend(number_of<In, float>(corner[p]), number_of<In, float>(corner[kPlanes + p]),
                      number_of<In, float>(corner[kPitch + p]), number_of<In, float>(corner[kPitch + kPlanes + p]));
    }
  }
  __device__ inline void put(int r, const Out (&results)[kOwnLanes][kMade]) const {
    Out* row = tile.out + ((tile.top + r) * tile.out_y + tile.left * tile.out_x);
    const int count = static_cast<int>(tile.end_x) - tile.left < 32 ? static_cast<int>(tile.end_x) - tile.left : 32;
    if (!store.interleaved || kMade == 1) {
      for (int u = 0; u < kOwnLanes; ++u)
        if (const int c = lane_of(u); c < count)
          store.position(row + c * tile.out_x, [&](int p) { return results[u][p]; });
      return;
    }
    for (int u = 0; u < kOwnLanes; ++u)
      for (int p = 0; p < kMade; ++p) exchange[lane_of(u) * kMade + p] = results[u][p];
    __syncwarp();
    PENSTOCK_UNROLL
    for (int k = 0; k < kMade; ++k)
      for (int u = 0; u < kOwnLanes; ++u)
        if (const int i = k * 32 + lane_of(u); i < count * kMade) row[i] = exchange[i];
    __syncwarp();
  }
};

template <class Stage, int threads> __device__ inline void element_boxes(const char* table) {
  typedef typename Stage::template In<0> In;
  typedef typename Stage::Out Out;
  constexpr int kWarps = threads / 32, hop = threads / (kOwnWarps<kWarps> * kOwnLanes);
  const StageBlock<Stage> b(table);
  const typename Stage::Coefs coefs(b.coefs + b.row.head().coefs);
  const StageStore<Stage> store(b, Stage::kWarpX);
  const BoxTile<Stage, kElementTile> tile(b);
  PENSTOCK_SHARED(BoxStart, start);
  In* box = reinterpret_cast<In*>(start + kElementTile);
  tile.template begin_rows<hop>(start);
  const ElementBox<Stage> source(tile, start);
  source.template fill<kWarps>(tile, box);
  // After the box, at a multiple of 8 bytes.
  constexpr size_t kBoxElements = size_t{kElementRows} * kElementPitch * Stage::kPlanes;
  Out* exchange = reinterpret_cast<Out*>(reinterpret_cast<char*>(box) + (kBoxElements * sizeof(In) + 7) / 8 * 8);
  for (int own = 0; own < kOwnWarps<kWarps>; ++own) {
    const int warp = warp_of(own);
    const ElementOutputs<Stage> outputs{tile,
                                        store,
                                        coefs,
                                        b.fault,
                                        start,
                                        box,
                                        exchange + warp * 32 * Stage::kOutPlanes,
                                        static_cast<int64_t>(source.x0) << 32,
                                        static_cast<int64_t>(source.y0) << 32};
    PENSTOCK_UNROLL_TWICE
    for (int r = warp; r < tile.tall; r += kWarps) outputs.make(r);
  }
}

}  // namespace penstock
