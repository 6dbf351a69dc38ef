// SPDX-License-Identifier: Apache-2.0
// Rows that are only moved, and a warp takes neighbors of a row at a time. Pixels of wide elements, kMovedPixels of
// them, go forward or backward: neighboring lanes take neighboring elements, at any address, and request all of them
// before they store one. Where planes do not matter, a row is kMovedBytes after kMovedBytes: a lane takes vectors, as
// the addresses of the results are aligned.
#pragma once
#include "cuda/kernels/byte_runs.h"
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

struct MovedBytes {
  static constexpr int kTimes = kMovedBytes / (32 * 16);
  struct alignas(16) Words {
    uint32_t v[4];
  };

  const uint8_t* from;
  uint8_t* to;
  int count;

  // What comes before the first vector at an aligned address, and after the last, are single bytes.
  __device__ inline void move() const {
    const int past = static_cast<int>(reinterpret_cast<uint64_t>(to) & 15);
    const int head = past == 0 ? 0 : 16 - past < count ? 16 - past : count;
    const int whole = head + (count - head) / 16 * 16;
    Words own[kTimes][kOwnLanes];
    PENSTOCK_UNROLL
    for (int k = 0; k < kTimes; ++k)
      for (int u = 0; u < kOwnLanes; ++u)
        if (const int at = head + 16 * (32 * k + lane_of(u)); at < whole) own[k][u] = words(from + at);
    for (int u = 0; u < kOwnLanes; ++u) {
      const int lane = lane_of(u);
      if (lane < head) to[lane] = from[lane];
      if (whole + lane < count) to[whole + lane] = from[whole + lane];
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kTimes; ++k)
      for (int u = 0; u < kOwnLanes; ++u)
        if (const int at = head + 16 * (32 * k + lane_of(u)); at < whole)
          *reinterpret_cast<Words*>(to + at) = own[k][u];
  }

 private:
  __device__ static inline Words words(const uint8_t* q) {
    if ((reinterpret_cast<uint64_t>(q) & 15) == 0) return *reinterpret_cast<const Words*>(q);
    const int low = static_cast<int>(reinterpret_cast<uint64_t>(q) & 3);
    const uint32_t* aligned = reinterpret_cast<const uint32_t*>(q - low);
    uint32_t w[5];
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k) w[k] = aligned[k];
    w[4] = low ? aligned[4] : 0;
    return {{shifted(w[0], w[1], 8 * low), shifted(w[1], w[2], 8 * low), shifted(w[2], w[3], 8 * low),
             shifted(w[3], w[4], 8 * low)}};
  }
};

template <class Stage> __device__ inline void moved_rows(const char* table) {
  using Index = typename Stage::Index;
  constexpr int kLast = Stage::kRow.dims - 1, kPlanes = Stage::kPlanes;
  constexpr int kElement = static_cast<int>(sizeof(typename Stage::Out));
  constexpr int kPart = kPlanes == 1 ? kMovedBytes / kElement : kMovedPixels;
  const StageBlock<Stage> b(table);
  const StageLoops<Stage> loops(b.row);
  const Index across = (loops.extent[kLast] + kPart - 1) / kPart;
  const Index warps = static_cast<Index>((blockDim.x + 31) / 32);
  for (Index i = b.begin + static_cast<Index>(threadIdx.x / 32); i < b.end; i += warps) {
    Index x[Stage::kRow.dims];
    loops.place(i, across, kPart, x);
    const Index left = loops.extent[kLast] - x[kLast];
    const int count = left < kPart ? static_cast<int>(left) : kPart;
    const auto* from = b.in.own + loops.offset(x, loops.in[0]);
    auto* to = b.out + loops.offset(x, loops.out);
    if constexpr (kPlanes == 1) {
      MovedBytes{reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to), count * kElement}.move();
    } else {
      const MovedPixels<Stage> pixels{from, to, count * kPlanes};
      if (loops.in[0][kLast] > 0) pixels.template move<true>();
      else pixels.template move<false>();
    }
  }
}

}  // namespace penstock
