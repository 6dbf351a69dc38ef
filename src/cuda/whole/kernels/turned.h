// SPDX-License-Identifier: Apache-2.0
// Transposes of short elements, by words: tiles go through shared memory as bytes.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"

namespace penstock::whole {

// Strides are bytes.
struct TurnedRow {
  const void* from;
  void* to;
  int64_t across, down;      // extents in units: `across` are neighbors in the source, `down` in the target
  int64_t from_row, to_row;  // the source's stride of `down`, the target's of `across`
  int64_t to_plane;          // the target's stride of the parts of a unit
  int64_t others;
  struct Dim {
    int64_t extent, from_stride, to_stride;
  } other[kMostDims];
};
static_assert(sizeof(TurnedRow) == 64 + 24 * kMostDims);

// Side of a tile of units of so many bytes, and the bytes of its rows, an odd number of words: its columns are in
// different banks.
constexpr int turned_side(int unit) { return unit <= 8 ? 64 : 32; }
constexpr int turned_pitch(int unit) { return turned_side(unit) * unit + 4; }
constexpr int turned_bytes(int unit) { return turned_side(unit) * turned_pitch(unit); }

// The tile's rows: `height` of `width` units.
template <int unit> PENSTOCK_KERNEL void load_turned(uint8_t* tile, const uint8_t* from, int64_t from_row, int width,
                                                     int height) {
  constexpr int kSide = turned_side(unit), kPitch = turned_pitch(unit), kWords = kSide * unit / 4;
  const bool words = ((reinterpret_cast<uint64_t>(from) | static_cast<uint64_t>(from_row)) & 3) == 0;
  if (words && width == kSide && height == kSide && threads() == kThreads) {
    constexpr int kEach = kSide * kWords / kThreads, kTogether = kEach % 8 == 0 ? 8 : kEach % 6 == 0 ? 6 : 4;
    constexpr int kTurns = (kEach + kTogether - 1) / kTogether;
    PENSTOCK_UNROLL_BY(1)
    for (int turn = 0; turn < kTurns; ++turn) {  // several words are on their way at once
      const int first = static_cast<int>(thread()) + turn * kTogether * kThreads;
      uint32_t read[kTogether] = {};
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        const int item = first + k * kThreads;
        if (kEach % kTogether == 0 || item < kSide * kWords)
          read[k] = *reinterpret_cast<const uint32_t*>(from + item / kWords * from_row + item % kWords * 4);
      }
      PENSTOCK_UNROLL
      for (int k = 0; k < kTogether; ++k) {
        const int item = first + k * kThreads;
        if (kEach % kTogether == 0 || item < kSide * kWords)
          *reinterpret_cast<uint32_t*>(tile + item / kWords * kPitch + item % kWords * 4) = read[k];
      }
    }
    return;
  }
  PENSTOCK_UNROLL_BY(4)
  for (int item = thread(); item < kSide * kSide * unit; item += threads()) {
    const int r = item / (kSide * unit), b = item % (kSide * unit);
    if (r < height && b < width * unit) tile[r * kPitch + b] = from[r * from_row + b];
  }
}

// Four bytes of a row of the target, from byte b on: of units that are below each other in the tile.
template <int unit, int part> PENSTOCK_KERNEL uint32_t turned_word(const uint8_t* column, int b) {
  constexpr int kPitch = turned_pitch(unit);
  if constexpr (part % 4 == 0) {
    return *reinterpret_cast<const uint32_t*>(column + b / part * kPitch + b % part);
  } else {
    uint32_t word = 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < 4; ++k)
      word |= static_cast<uint32_t>(column[(b + k) / part * kPitch + (b + k) % part]) << 8 * k;
    return word;
  }
}

// Units of work are tiles. A unit is `unit` bytes in the source; parts of it are together in the target.
template <int unit, int part> PENSTOCK_KERNEL void copy_turned(const Entry<TurnedRow>& e) {
  constexpr int kSide = turned_side(unit), kWords = kSide * part / 4, kPlanes = unit / part;
  const TurnedRow& row = e.row;
  const int64_t columns = (row.across + kSide - 1) / kSide, rows = (row.down + kSide - 1) / kSide;
  const int64_t to_row = row.to_row, to_plane = row.to_plane;
  uint8_t* const tile = shared_memory<uint8_t>();
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x = i % columns * kSide, y = i / columns % rows * kSide;
    int64_t rest = i / columns / rows;
    const uint8_t* from = static_cast<const uint8_t*>(row.from) + x * unit + y * row.from_row;
    uint8_t* to = static_cast<uint8_t*>(row.to) + y * part + x * to_row;
    for (int d = 0; d < row.others; ++d) {
      const TurnedRow::Dim& other = row.other[d];
      const int64_t k = rest % other.extent;
      rest /= other.extent;
      from += k * other.from_stride;
      to += k * other.to_stride;
    }
    from = in_global_memory(from), to = in_global_memory(to);
    const int width = row.across - x < kSide ? static_cast<int>(row.across - x) : kSide;
    const int height = row.down - y < kSide ? static_cast<int>(row.down - y) : kSide;
    load_turned<unit>(tile, from, row.from_row, width, height);
    wait_for_block();
    const bool words = ((reinterpret_cast<uint64_t>(to) | static_cast<uint64_t>(to_row) |
                         static_cast<uint64_t>(kPlanes > 1 ? to_plane : 0)) &
                        3) == 0;
    const int bytes = height * part;
    PENSTOCK_UNROLL_BY(4)
    for (int item = thread(); item < kPlanes * kSide * kWords; item += threads()) {
      const int w = item % kWords, c = item / kWords % kSide, plane = item / kWords / kSide;
      if (c >= width || 4 * w >= bytes) continue;
      const uint8_t* const column = tile + c * unit + plane * part;
      uint8_t* const at = to + c * to_row + plane * to_plane + 4 * w;
      if (words && 4 * w + 4 <= bytes) {
        *reinterpret_cast<uint32_t*>(at) = turned_word<unit, part>(column, 4 * w);
        continue;
      }
      for (int k = 0; k < 4 && 4 * w + k < bytes; ++k)
        at[k] = column[(4 * w + k) / part * turned_pitch(unit) + (4 * w + k) % part];
    }
    wait_for_block();
  }
}

}  // namespace penstock::whole
