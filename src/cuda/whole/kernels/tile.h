// SPDX-License-Identifier: Apache-2.0
// Copies between memory whose neighbors are far apart in the other: tiles go through shared memory.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"

namespace penstock::whole {

struct TileRow {
  const void* from;
  void* to;
  int64_t across, down;      // extents: `across` are neighbors in the source, `down` in the target
  int64_t from_row, to_row;  // the source's stride of `down`, the target's of `across`
  int64_t others;
  struct Dim {
    int64_t extent, from_stride, to_stride;
  } other[kMostDims];
};
static_assert(sizeof(TileRow) == 56 + 24 * kMostDims);

// Side of a tile of units of so many bytes: the data in flight hides the memory's latency.
constexpr int tile_side(int unit_bytes) { return unit_bytes <= 4 ? 64 : 32; }
// A row of a tile is one unit longer, so that its columns are in different banks.
constexpr int tile_bytes(int unit_bytes) { return unit_bytes * tile_side(unit_bytes) * (tile_side(unit_bytes) + 1); }

// Units of work are tiles; units of a tile are `planes` elements.
template <class T, int planes> PENSTOCK_KERNEL void copy_tiles(const Entry<TileRow>& e) {
  struct Unit {
    T v[planes];
  };
  constexpr int kSide = tile_side(sizeof(Unit));
  const int64_t across = e.row.across, down = e.row.down, from_row = e.row.from_row, to_row = e.row.to_row;
  const int64_t columns = (across + kSide - 1) / kSide, rows = (down + kSide - 1) / kSide;
  Unit* tile = shared_memory<Unit>();
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x = i % columns * kSide, y = i / columns % rows * kSide;
    int64_t rest = i / columns / rows;
    const T* from = static_cast<const T*>(e.row.from) + x * planes + y * from_row;
    T* to = static_cast<T*>(e.row.to) + y * planes + x * to_row;
    for (int d = 0; d < e.row.others; ++d) {
      const TileRow::Dim& other = e.row.other[d];
      const int64_t k = rest % other.extent;
      rest /= other.extent;
      from += k * other.from_stride;
      to += k * other.to_stride;
    }
    from = in_global_memory(from), to = in_global_memory(to);
    const int width = across - x < kSide ? static_cast<int>(across - x) : kSide;
    const int height = down - y < kSide ? static_cast<int>(down - y) : kSide;
    constexpr int kTogether = 4;  // units of a thread are on their way at once
    PENSTOCK_UNROLL_BY(1)
    for (int first = thread(); first < kSide * kSide; first += kTogether * threads()) {
      Unit read[kTogether];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        const int item = first + k * static_cast<int>(threads()), c = item % kSide, r = item / kSide;
        if (c < width && r < height) read[k] = *reinterpret_cast<const Unit*>(from + c * planes + r * from_row);
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        const int item = first + k * static_cast<int>(threads()), c = item % kSide, r = item / kSide;
        if (c < width && r < height) tile[r * (kSide + 1) + c] = read[k];
      }
    }
    wait_for_block();
    PENSTOCK_UNROLL_BY(8)
    for (int item = thread(); item < kSide * kSide; item += threads()) {
      const int r = item % kSide, c = item / kSide;
      if (c < width && r < height) *reinterpret_cast<Unit*>(to + r * planes + c * to_row) = tile[r * (kSide + 1) + c];
    }
    wait_for_block();
  }
}

}  // namespace penstock::whole
