// SPDX-License-Identifier: Apache-2.0
// Rows of pixels of wide elements that are only moved, forward or backward. A warp takes kMovedPixels neighbors of a
// row at a time. Neighboring lanes take neighboring elements, at any address, and request all of them before they store
// one.
#pragma once
#include "cuda/kernels/pixel_row_sizes.h"
#include "cuda/kernels/stage_loops.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

template <class Stage> struct MovedPixels {
  typedef typename Stage::Out Out;
  static constexpr int kPlanes = Stage::kPlanes, kTimes = kMovedPixels * kPlanes / 32;

  const Out* from;
  Out* to;
  int count;  // elements

  template <bool forward> __device__ inline void move() const {
    Out own[kTimes][kOwnLanes];
    if (count == kMovedPixels * kPlanes) {
      PENSTOCK_UNROLL
      for (int k = 0; k < kTimes; ++k)
        for (int u = 0; u < kOwnLanes; ++u) own[k][u] = from[place<forward>(k, lane_of(u))];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTimes; ++k)
        for (int u = 0; u < kOwnLanes; ++u) to[32 * k + lane_of(u)] = own[k][u];
    } else {
      PENSTOCK_ROLLED
      for (int k = 0; k < kTimes; ++k)
        for (int u = 0; u < kOwnLanes; ++u)
          if (const int at = 32 * k + lane_of(u); at < count) to[at] = from[place<forward>(k, lane_of(u))];
    }
  }

 private:
  // Where element 32 k + lane comes from. Backward, plane p of pixel x is at p - kPlanes x.
  template <bool forward> PENSTOCK_HD static inline int place(int k, int lane) {
    const int at = 32 * k + lane;
    if constexpr (forward) return at;
    const int sum = lane % kPlanes + 32 * k % kPlanes, plane = sum < kPlanes ? sum : sum - kPlanes;
    return 2 * plane - at;
  }
};

template <class Stage> __device__ inline void moved_rows(const char* table) {
  using Index = typename Stage::Index;
  constexpr int kLast = Stage::kRow.dims - 1, kPlanes = Stage::kPlanes;
  const StageBlock<Stage> b(table);
  const StageLoops<Stage> loops(b.row);
  const Index across = (loops.extent[kLast] + kMovedPixels - 1) / kMovedPixels;
  const Index warps = static_cast<Index>((blockDim.x + 31) / 32);
  for (Index i = b.begin + static_cast<Index>(threadIdx.x / 32); i < b.end; i += warps) {
    Index x[Stage::kRow.dims];
    loops.place(i, across, kMovedPixels, x);
    const Index left = loops.extent[kLast] - x[kLast];
    const MovedPixels<Stage> pixels{b.in.own + loops.offset(x, loops.in[0]), b.out + loops.offset(x, loops.out),
                                    (left < kMovedPixels ? static_cast<int>(left) : kMovedPixels) * kPlanes};
    if (loops.in[0][kLast] > 0) pixels.template move<true>();
    else pixels.template move<false>();
  }
}

}  // namespace penstock
