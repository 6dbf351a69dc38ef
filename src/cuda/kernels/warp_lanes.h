// SPDX-License-Identifier: Apache-2.0
// The lanes of a warp and the values that they exchange. In the emulation one thread stands for all 32 lanes.
#pragma once
#include "cuda/kernels/spellings.h"

namespace penstock {
// The lanes that this thread stands for, and the value of another lane.
#ifdef PENSTOCK_EMULATED
constexpr int kOwnLanes = 32;
inline int lane_of(int own) { return own; }
// The same of a block's warps.
template <int warps> constexpr int kOwnWarps = warps;
inline int warp_of(int own) { return own; }
template <class T> inline T of_lane(const T* all, int own, int by) {
  return all[own + by < 0 || own + by > 31 ? own : own + by];
}
#else
constexpr int kOwnLanes = 1;
__device__ inline int lane_of(int) { return static_cast<int>(threadIdx.x & 31); }
template <int warps> constexpr int kOwnWarps = 1;
__device__ inline int warp_of(int) { return static_cast<int>(threadIdx.x >> 5); }
template <class T> __device__ inline T of_lane(const T* all, int, int by) {
  return by < 0 ? __shfl_up_sync(~0u, all[0], -by) : __shfl_down_sync(~0u, all[0], by);
}
#endif
// A lane's values of a row, and `side` of each lane beside it.
template <int side, int n>
__device__ inline void with_neighbors(const float (&values)[n][kOwnLanes], int own, float (&to)[n + 2 * side]) {
  PENSTOCK_UNROLL
  for (int b = 0; b < side; ++b)
    to[b] = of_lane(values[n - side + b], own, -1), to[n + side + b] = of_lane(values[b], own, 1);
  PENSTOCK_UNROLL
  for (int b = 0; b < n; ++b) to[side + b] = values[b][own];
}
// Each lane has three contiguous words of a row. Word i goes to lane i % 32, so that lanes store neighboring words.
#ifdef PENSTOCK_EMULATED
inline void turn_words(const uint32_t (&own)[3][kOwnLanes], uint32_t (&to)[3][kOwnLanes]) {
  for (int i = 0; i < 96; ++i) to[i / 32][i % 32] = own[i % 3][i / 3];
}
#else
__device__ inline void turn_words(const uint32_t (&own)[3][kOwnLanes], uint32_t (&to)[3][kOwnLanes]) {
  const int lane = lane_of(0), m = lane % 3;
  uint32_t got[3];
  PENSTOCK_UNROLL
  for (int r = 0; r < 3; ++r) got[r] = __shfl_sync(~0u, own[r][0], (32 * ((2 * r + m) % 3) + lane) / 3);
  to[0][0] = m == 0 ? got[0] : m == 1 ? got[1] : got[2];
  to[1][0] = m == 0 ? got[2] : m == 1 ? got[0] : got[1];
  to[2][0] = m == 0 ? got[1] : m == 1 ? got[2] : got[0];
}
#endif
// Loads aligned words, from the one that holds byte q. `whole`: all of them; otherwise those that have one of the row's
// bytes [q - before, q + after).
template <int n> __device__ inline void row_words(const uint8_t* q, bool whole, int before, int after,
                                                  uint32_t (&to)[n][kOwnLanes], int own) {
  const int low = static_cast<int>(reinterpret_cast<uint64_t>(q) & 3);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(q - low);
  if (whole) {
    PENSTOCK_UNROLL
    for (int k = 0; k < n; ++k) to[k][own] = words[k];
  } else {
    PENSTOCK_UNROLL
    for (int k = 0; k < n; ++k) to[k][own] = 4 * k - low + 3 + before >= 0 && 4 * k - low < after ? words[k] : 0;
  }
}
}  // namespace penstock
