// SPDX-License-Identifier: Apache-2.0
// Tiles of words whose planes lie side by side, after at most two taps each way. The rows that some outputs read come
// to shared memory on their own while the outputs before them are made: neither registers nor threads wait for them. A
// row has all columns between the tile's first tap and its last one, or, where an image becomes much smaller, the taps
// of each output.
#pragma once
#include "cuda/kernels/streams.h"
#include "cuda/kernels/tile_sizes.h"
#include "cuda/kernels/tiles.h"
#include "cuda/kernels/warp_lanes.h"

namespace penstock {

// Whether pixels of results are three words, so that lanes can exchange them and store neighboring words.
template <class Stage> constexpr bool makes_words =
    sizeof(typename Stage::Out) == 4 && Stage::kOutPlanes == 3 && !Stage::kRow.fills;

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

template <class Stage> struct FetchedTile {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef StageTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes;
  // Taps of a FilterKind where an image is not averaged.
  static constexpr int few_taps(int kind) { return kind == 0 ? 1 : kind == 1 ? 2 : 0; }
  static constexpr int kTapsX = few_taps(Stage::kFilterX), kTapsY = few_taps(Stage::kFilterY);
  static constexpr bool kPossible =
      std::is_same_v<In, float> && !Stage::kRow.picks_planes && !Stage::kRow.fills && kTapsX > 0 && kTapsY > 0;
  // Rows of outputs at once; those of the source that they read.
  static constexpr int kDown = kFetchedRows, kSlots = kDown * (kTapsY > 0 ? kTapsY : 1), kWords = kFetchedBytes / 4,
                       kPitch = kWords / (2 * kSlots);  // of two turns

  const Tile& t;
  const TapsOfTile<Stage>& taps;
  int low, columns;  // of the source
  bool gathers;      // a row has the taps of each output
  int32_t* places;   // of these taps in a row of the source
  float* slots;      // rows of some turns
  int pitch, ahead;  // turns that are on their way while one is made
  const In *begin, *end;

  // Whether this tile is one of those.
  PENSTOCK_HD static inline bool fits(const Tile& t) {
    return t.tx.taps.taps == kTapsX && t.ty.taps.taps == kTapsY && t.beside() &&
           t.nx * kTapsX * kPlanes * (2 * kSlots + 1) <= kWords;
  }

  __device__ inline FetchedTile(const Tile& tile, const TapsOfTile<Stage>& of_tile) : t(tile), taps(of_tile) {
    const int first = taps.first_x[0], last = taps.first_x[t.nx - 1];
    low = first < last ? first : last, columns = (first < last ? last : first) + kTapsX - low;
    gathers = columns * kPlanes + 6 > kPitch;
    places = taps.first_x + (t.nx * (1 + kTapsX) + t.ny * (1 + kTapsY) + 3) / 4 * 4;
    const int n = t.nx * kTapsX * kPlanes;
    if (gathers) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int x = i / (kTapsX * kPlanes);
        const int k = i / kPlanes - x * kTapsX, p = i % kPlanes;
        places[i] = (taps.first_x[x] + k) * static_cast<int>(t.step_x) + p;
      }
      __syncthreads();
    }
    const int listed = gathers ? (n + 3) / 4 * 4 : 0;
    slots = reinterpret_cast<float*>(places + listed), pitch = gathers ? listed : (columns * kPlanes + 6) / 4 * 4;
    ahead = 3 * pitch * kSlots + listed <= kWords ? 2 : 1;
    const Index last_y = static_cast<Index>(t.ty.taps.in - 1) * t.step_y,
                last_x = static_cast<Index>(t.tx.taps.in - 1) * t.step_x;
    begin = t.in + ((last_y < 0 ? last_y : 0) + (last_x < 0 ? last_x : 0));
    end = t.in + ((last_y > 0 ? last_y : 0) + (last_x > 0 ? last_x : 0) + kPlanes);
  }
  __device__ inline void make() const {
    if (ahead == 2) make_ahead<2>();
    else make_ahead<1>();
  }

 private:
  template <int turns> __device__ inline void make_ahead() const {
    PENSTOCK_UNROLL
    for (int k = 0; k < turns; ++k) fetch(k * kDown, k), end_fetch();
    int own = 0, next = turns;  // where the rows of a turn are
    for (int y = 0; y < t.ny; y += kDown) {
      fetch(y + turns * kDown, next);
      end_fetch();
      wait_for_fetched<turns>();
      __syncthreads();
      outputs(y, own);
      __syncthreads();
      own = own == turns ? 0 : own + 1, next = next == turns ? 0 : next + 1;
    }
  }
  __device__ static inline int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static inline int warps() { return blockDim.x < 32 ? 1 : static_cast<int>(blockDim.x) / 32; }
  __device__ inline float* slot(int turn, int s) const { return slots + (turn * kSlots + s) * pitch; }
  // The row of the source that output y reads with tap k; the first of the columns in memory.
  __device__ inline const In* row(int y, int k) const {
    return t.in + static_cast<Index>(taps.first_y[y] + k) * t.step_y;
  }
  __device__ inline const In* corner(int y, int k) const {
    return row(y, k) + static_cast<Index>(t.step_x < 0 ? low + columns - 1 : low) * t.step_x;
  }
  // Elements from an aligned vector to an address.
  PENSTOCK_HD static inline int lead(const In* q) { return static_cast<int>(reinterpret_cast<uint64_t>(q) >> 2 & 3); }

  // Asks for what the outputs of rows [y, y + kDown) read.
  __device__ inline void fetch(int y, int turn) const {
    for (int s = warp(); s < kSlots; s += warps()) {
      if (y + s / kTapsY >= t.ny) break;
      const int of = y + s / kTapsY, k = s % kTapsY;
      for (int u = 0; u < kOwnLanes; ++u) {
        if (gathers) fetch_taps(row(of, k), slot(turn, s), lane_of(u));
        else fetch_row(corner(of, k), slot(turn, s), lane_of(u));
      }
    }
  }
  __device__ inline void fetch_taps(const In* row, float* to, int lane) const {
    const int n = t.nx * kTapsX * kPlanes;
    for (int i = lane; i < n; i += 32)
      fetch_word(reinterpret_cast<uint32_t*>(to + i), reinterpret_cast<const uint8_t*>(row + places[i]));
  }
  __device__ inline void fetch_row(const In* q, float* to, int lane) const {
    const int before = lead(q), n = before + columns * kPlanes;
    for (int i = 4 * lane; i < n; i += 4 * 32) {
      const In* from = q - before + i;
      if (from >= begin && from + 4 <= end) {
        fetch_words(reinterpret_cast<OwnWords<16>*>(to + i), reinterpret_cast<const uint8_t*>(from));
      } else {
        for (int k = 0; k < 4; ++k)
          if (from + k >= begin && from + k < end)
            fetch_word(reinterpret_cast<uint32_t*>(to + i + k), reinterpret_cast<const uint8_t*>(from + k));
      }
    }
  }
  // Rows [y, y + kDown) of outputs: a warp takes 32 neighbors of one.
  __device__ inline void outputs(int y, int turn) const {
    for (int i = warp(); i < 2 * kDown; i += warps()) {
      const int x = i % 2 * 32, at_y = y + i / 2;
      if (at_y >= t.ny || x >= t.nx) continue;
      const float* upper = slot(turn, i / 2 * kTapsY) + (gathers ? 0 : lead(corner(at_y, 0)));
      const float* lower = kTapsY == 1 ? upper : slot(turn, i / 2 * kTapsY + 1) + (gathers ? 0 : lead(corner(at_y, 1)));
      const auto results = [&](int at, auto& made) {
        const int own = at < t.nx ? at : t.nx - 1;
        sampled_results<Stage, 1>(
            t.coefs, t.block.fault, [&](int, auto& from) { filter(own, at_y, upper, lower, from); },
            [&](int) { return at < t.nx; }, made);
      };
      if (makes_words<Stage> && t.store.interleaved) {
        if constexpr (makes_words<Stage>) store_turned(t, x, at_y, results);
      } else {
        for (int u = 0; u < kOwnLanes; ++u) {
          const int at = x + lane_of(u);
          typename Stage::Out made[1][Stage::kOutPlanes];
          if (at >= t.nx) continue;
          results(at, made);
          t.store.group(
              t.out + ((t.x0 + at) * t.store.x + (t.y0 + at_y) * t.row_out), 1, true, [](int) { return false; }, made);
        }
      }
    }
  }
  // The source's value of an output, in all planes. Down first, as everywhere.
  __device__ inline void filter(int x, int y, const float* upper, const float* lower,
                                typename Stage::SourceNumber (&to)[kPlanes]) const {
    const int column = taps.first_x[x] - low;
    const bool back = t.step_x < 0 && !gathers;
    const int at = (gathers ? x * kTapsX : back ? columns - kTapsX - column : column) * kPlanes;
    const float wx0 = taps.weight_x[x], wx1 = kTapsX > 1 ? taps.weight_x[t.nx + x] : 0.0f;
    const float wy0 = taps.weight_y[y], wy1 = kTapsY > 1 ? taps.weight_y[t.ny + y] : 0.0f;
    float sums[kTapsX * kPlanes];
    // A tap of weight zero is left out: it may be no number.
    if (kTapsY == 1 || wy1 == 0) {
      for (int i = 0; i < kTapsX * kPlanes; ++i) sums[i] = wy0 * upper[at + i];
    } else if (wy0 == 0) {
      for (int i = 0; i < kTapsX * kPlanes; ++i) sums[i] = wy1 * lower[at + i];
    } else {
      for (int i = 0; i < kTapsX * kPlanes; ++i) sums[i] = fma(wy1, lower[at + i], wy0 * upper[at + i]);
    }
    for (int p = 0; p < kPlanes; ++p) {
      const float low_x = sums[p], high_x = sums[(kTapsX - 1) * kPlanes + p], first = back ? high_x : low_x;
      Tile::set(to[p], kTapsX > 1 ? fma(wx1, back ? low_x : high_x, wx0 * first) : wx0 * first);
    }
  }
};

}  // namespace penstock
