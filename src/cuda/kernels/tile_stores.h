// SPDX-License-Identifier: Apache-2.0
// How a warp stores 32 neighbors of a row of a tile: lanes exchange what they made, so that they store neighboring
// words.
#pragma once
#include "cuda/kernels/bytes.h"
#include "cuda/kernels/tiles.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// Whether pixels of results are three words, or three bytes.
template <class Stage, int bytes> constexpr bool makes_pixels =
    sizeof(typename Stage::Out) == bytes && Stage::kOutPlanes == 3 && !Stage::kRow.fills;
template <class Stage> constexpr bool makes_words = makes_pixels<Stage, 4>;

// Stores 32 neighbors of row y, from column x on; results(at, made) makes those of column `at`.
template <class Stage, class Results>
__device__ inline void store_turned(const StageTile<Stage>& t, int x, int y, const Results& results) {
  typedef typename Stage::Out Out;
  uint32_t own[3][kOwnLanes], turned[3][kOwnLanes];
  for (int u = 0; u < kOwnLanes; ++u) {
    Out made[1][3];
    results(x + lane_of(u), made);
    for (int p = 0; p < 3; ++p) own[p][u] = std::bit_cast<uint32_t>(made[0][p]);
  }
  turn_words(own, turned);
  Out* to = t.out + ((t.x0 + x) * 3 + (t.y0 + y) * t.row_out);
  PENSTOCK_UNROLL
  for (int k = 0; k < 3; ++k)
    for (int u = 0; u < kOwnLanes; ++u)
      if (const int i = 32 * k + lane_of(u); i < (t.nx - x) * 3) to[i] = std::bit_cast<Out>(turned[k][u]);
}
// The same of pixels of bytes, in rows that begin at words.
template <class Stage, class Results>
__device__ inline void store_packed(const StageTile<Stage>& t, int x, int y, const Results& results) {
  typedef typename Stage::Out Out;
  uint32_t own[kOwnLanes], packed[kOwnLanes];
  for (int u = 0; u < kOwnLanes; ++u) {
    Out made[1][3];
    results(x + lane_of(u), made);
    own[u] = 0;
    for (int p = 0; p < 3; ++p) own[u] |= static_cast<uint32_t>(std::bit_cast<uint8_t>(made[0][p])) << 8 * p;
  }
  pack_pixels(own, packed);
  uint8_t* to = reinterpret_cast<uint8_t*>(t.out + ((t.x0 + x) * 3 + (t.y0 + y) * t.row_out));
  for (int u = 0; u < kOwnLanes; ++u) {
    const int i = 4 * lane_of(u), left = (t.nx - x < 32 ? t.nx - x : 32) * 3 - i;
    if (left >= 4) *reinterpret_cast<uint32_t*>(to + i) = packed[u];
    else
      for (int b = 0; b < left; ++b) to[i + b] = static_cast<uint8_t>(packed[u] >> 8 * b);
  }
}
// Calls part(x, y) for each part of a tile: 32 columns, which a warp takes, of `rows` rows.
template <int rows, class Stage, class Part>
__device__ inline void each_part(const StageTile<Stage>& t, const Part& part) {
  const int across = (t.nx + 31) / 32, parts = across * ((t.ny + rows - 1) / rows);
  const int warps = blockDim.x < 32 ? 1 : static_cast<int>(blockDim.x) / 32;
  for (int i = static_cast<int>(threadIdx.x) / 32; i < parts; i += warps) {
    const int down = i / across;
    part((i - down * across) * 32, down * rows);
  }
}
// Stores them in the way that the tile allows.
template <class Stage, class Results>
__device__ inline void store_row(const StageTile<Stage>& t, int x, int y, const Results& results) {
  if constexpr (makes_words<Stage>)
    if (t.store.interleaved) return store_turned(t, x, y, results);
  if constexpr (makes_pixels<Stage, 1>)
    if (t.store.interleaved &&
        ((reinterpret_cast<uint64_t>(t.out) | static_cast<uint64_t>(t.row_out | t.x0 * 3)) & 3) == 0)
      return store_packed(t, x, y, results);
  for (int u = 0; u < kOwnLanes; ++u) {
    const int at = x + lane_of(u);
    typename Stage::Out made[1][Stage::kOutPlanes];
    if (at >= t.nx) continue;
    results(at, made);
    t.store.group(t.out + ((t.x0 + at) * t.store.x + (t.y0 + y) * t.row_out), 1, true, [](int) { return false; }, made);
  }
}

}  // namespace penstock
