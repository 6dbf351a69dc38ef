// SPDX-License-Identifier: Apache-2.0
// Tiles each of whose outputs is one sample of the source.
#pragma once
#include "cuda/kernels/byte_words.h"
#include "cuda/kernels/tile_stores.h"

namespace penstock {

// Of pixels of bytes or of words whose planes lie side by side, neighboring lanes have neighboring columns: apart as
// those of the source may be, four columns of each lane would lie in four times as many lines of the cache. A lane asks
// for the samples of several rows before it uses one.
template <class Stage> struct IndexedColumns {
  typedef typename Stage::Index Index;
  typedef typename Stage::template In<0> In;
  typedef StageTile<Stage> Tile;
  static constexpr int kPlanes = Stage::kPlanes, kRows = 8;
  static constexpr bool kBytes = Tile::kBytes && kPlanes == 3;
  static constexpr bool kPossible =
      !Tile::kFrames && !Tile::kFills && !Stage::kRow.picks_planes && sizeof(Index) == 4 && (kBytes || sizeof(In) == 4);
  struct Pixel {
    In of[kBytes ? 1 : kPlanes];
    uint32_t words[kBytes ? 2 : 1];
  };

  const Tile& t;
  const TapsOfTile<Stage>& taps;

  __device__ inline void make() const {
    each_part<kRows>(t, [&](int x, int y) { rows(x, y); });
  }

 private:
  PENSTOCK_HD static inline int last(int at, int n) { return at < n ? at : n - 1; }
  // Up to kRows rows of 32 columns.
  __device__ inline void rows(int x, int y) const {
    const uint32_t lead = static_cast<uint32_t>(reinterpret_cast<uint64_t>(&t.in[0]) & 3);
    Pixel own[kRows][kOwnLanes];
    uint32_t column[kOwnLanes];  // offsets: of bytes from the word in which the image begins, or of elements
    for (int u = 0; u < kOwnLanes; ++u)
      column[u] = static_cast<uint32_t>(taps.first_x[last(x + lane_of(u), t.nx)] * t.step_x) + (kBytes ? lead : 0);
    PENSTOCK_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto row = static_cast<uint32_t>(taps.first_y[last(y + r, t.ny)] * t.step_y);
      for (int u = 0; u < kOwnLanes; ++u) read(column[u] + row, own[r][u]);
    }
    PENSTOCK_UNROLL
    for (int r = 0; r < kRows; ++r) {
      if (y + r >= t.ny) break;
      const auto row = static_cast<uint32_t>(taps.first_y[y + r] * t.step_y);
      store_row(t, x, y + r, [&](int at, auto& made) {
        const int u = kOwnLanes == 1 ? 0 : at - x;
        sampled_results<Stage, 1>(
            t.coefs, t.block.fault, [&](int, auto& source) { take(own[r][u], column[u] + row, source); },
            [&](int) { return at < t.nx; }, made);
      });
    }
  }
  // A word that has none of a pixel's bytes is not read.
  __device__ inline void read(uint32_t at, Pixel& to) const {
    if constexpr (kBytes) {
      const uint8_t* first = &t.in[0];
      const auto* from = reinterpret_cast<const uint32_t*>(first - (reinterpret_cast<uint64_t>(first) & 3) +
                                                           static_cast<int32_t>(at & ~3u));
      to.words[0] = from[0], to.words[1] = (at & 2) ? from[1] : 0;
    } else {
      PENSTOCK_UNROLL
      for (int p = 0; p < kPlanes; ++p) to.of[p] = t.in[static_cast<int32_t>(at) + t.plane(p)];
    }
  }
  __device__ inline void take(const Pixel& from, [[maybe_unused]] uint32_t at,
                              typename Stage::SourceNumber (&to)[kPlanes]) const {
    typedef typename Stage::SourceNumber Number;
    if constexpr (kBytes) {
      const uint32_t word = shifted(from.words[0], from.words[1], static_cast<int>(at & 3) * 8);
      for (int p = 0; p < kPlanes; ++p) to[p] = number_of<uint8_t, Number>(static_cast<uint8_t>(word >> 8 * p));
    } else {
      for (int p = 0; p < kPlanes; ++p) to[p] = number_of<In, Number>(from.of[p]);
    }
  }
};

template <class Stage> __device__ inline void tile_indexed(const char* table) {
  using Index = typename Stage::Index;
  const StageTile<Stage> t(table);
  const TapsOfTile<Stage> taps(t);
  if constexpr (IndexedColumns<Stage>::kPossible) {
    if (t.beside()) {
      IndexedColumns<Stage>{t, taps}.make();
      return;
    }
  }
  t.template groups<kReadTogether<Stage>>(0, t.ny, [&](int x, int y, int j, auto& source) {
    int tap_x, tap_y;
    const bool some = t.tap_place(x, y, j, tap_x, tap_y);
    const Index corner =
        some ? static_cast<Index>(taps.first_y[tap_y]) * t.step_y + static_cast<Index>(taps.first_x[tap_x]) * t.step_x
             : 0;
    for (int p = 0; p < Stage::kPlanes; ++p)
      source[p] =
          some ? number_of<typename Stage::template In<0>, typename Stage::SourceNumber>(t.in[corner + t.plane(p)])
               : typename Stage::SourceNumber(0);
  });
}

}  // namespace penstock
