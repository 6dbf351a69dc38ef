// SPDX-License-Identifier: Apache-2.0
// Tables of the tiles of an image, and images through a mix of the four tables around each pixel: as TileTableRule and
// TileMixRule (local_histograms.h) do. Rows of one channel come and go by words.
#pragma once
#include <cstdint>

#include "families/table/kernels/bins.h"
#include "pixel/stored.h"

namespace penstock::table {

// Planes follow each other, tiles of a plane too. A plane is an image's only channel, or one of them.
struct TilesRow {
  const uint8_t* in;
  uint8_t* out;
  uint8_t* tables;  // of each plane and tile: `bins`
  int32_t height, width, tile_height, tile_width, tiles_y, tiles_x;
  int32_t bins, shift, limit;  // limit 0: none
  float scale, per_height, per_width;
};
static_assert(sizeof(TilesRow) == 72);

constexpr int kTileCopies = 8;  // of counts: one for each warp
constexpr int kTablesBytes = (kTileCopies * 256 + 2 * 256 + 2) * 4, kMixedBytes = 256 * 4;

// Where a plane begins; its elements are `inner` apart.
template <int inner> PENSTOCK_KERNEL int64_t plane_offset(const TilesRow& r, int64_t plane) {
  return plane / inner * (int64_t{r.height} * r.width * inner) + plane % inner;
}
// The lanes that share a row, and the rows that a block has at once.
PENSTOCK_KERNEL int lanes_of_row() { return threads() < 32 ? 1 : 32; }
// Calls words(x) for four elements of a row of n that begin at an aligned address, byte(x) for others. `whole`: there
// may be words.
template <class Words, class Byte>
PENSTOCK_KERNEL void for_each_word(const uint8_t* row, int32_t n, bool whole, const Words& words, const Byte& byte) {
  const auto past = static_cast<int32_t>(reinterpret_cast<uint64_t>(row) & 3);
  const int lanes = lanes_of_row();
  for (int32_t x = static_cast<int32_t>(thread()) % lanes * 4 - past; x < n; x += 4 * lanes) {
    if (whole && x >= 0 && x + 4 <= n) words(x);
    else
      for (int32_t k = x < 0 ? 0 : x; k < x + 4 && k < n; ++k) byte(k);
  }
}
// Mirrored without the edge.
PENSTOCK_KERNEL int32_t mirrored_at(int32_t at, int32_t n) {
  if (at < n) return at;
  const int32_t period = n > 1 ? 2 * (n - 1) : 1, rest = at % period;
  return n == 1 ? 0 : rest < n ? rest : period - rest;
}
// From counts to what the tile makes of each bin.
PENSTOCK_KERNEL void finish_table(const TilesRow& r, int32_t* counts, int32_t* sums, int32_t* over, uint8_t* table) {
  const int32_t bins = r.bins;
  if (r.limit > 0) {
    for (int i = thread(); i < bins; i += threads())
      if (counts[i] > r.limit) add_count(over, counts[i] - r.limit), counts[i] = r.limit;
    wait_for_block();
    const int32_t all = *over, rest = all % bins, step = rest > 0 && bins / rest > 1 ? bins / rest : 1;
    for (int i = thread(); i < bins; i += threads()) counts[i] += all / bins + (i % step == 0 && i / step < rest);
    wait_for_block();
  }
  int32_t *from = counts, *to = sums;  // sums of the counts up to each, by turns
  for (int step = 1; step < bins; step *= 2) {
    for (int i = thread(); i < bins; i += threads()) to[i] = from[i] + (i >= step ? from[i - step] : 0);
    wait_for_block();
    int32_t* const other = from;
    from = to, to = other;
  }
  for (int i = thread(); i < bins; i += threads()) table[i] = stored<uint8_t>(static_cast<float>(from[i]) * r.scale);
}

// Units of work are tiles.
template <int inner> PENSTOCK_KERNEL void tile_tables(const Entry<TilesRow>& e) {
  const TilesRow& r = e.row;
  int32_t* const copies = shared_memory<int32_t>();
  int32_t* const counts = copies + kTileCopies * 256;
  int32_t *const sums = counts + 256, *const over = sums + 256;
  const int lanes = lanes_of_row(), warp = static_cast<int>(thread()) / lanes;
  const int warps = static_cast<int>(threads()) / lanes, lane = static_cast<int>(thread()) % lanes;
  int32_t* const own = copies + warp % kTileCopies * 256;
  for (int64_t tile = e.begin; tile < e.end; ++tile) {
    for (int i = thread(); i < kTileCopies * 256; i += threads()) copies[i] = 0;
    for (int i = thread(); i < 256; i += threads()) counts[i] = 0;
    if (thread() == 0) *over = 0;
    wait_for_block();
    const int64_t tiles = int64_t{r.tiles_y} * r.tiles_x, plane = tile / tiles;
    const auto place = static_cast<int32_t>(tile - plane * tiles);
    const int32_t top = place / r.tiles_x * r.tile_height, left = place % r.tiles_x * r.tile_width;
    const int32_t most = r.width - left, inside = most < 0 ? 0 : most < r.tile_width ? most : r.tile_width;
    const uint8_t* const from = r.in + plane_offset<inner>(r, plane);
    for (int32_t y = warp; y < r.tile_height; y += warps) {
      const uint8_t* const all = from + int64_t{mirrored_at(top + y, r.height)} * r.width * inner;
      const uint8_t* const row = all + int64_t{left} * inner;
      if constexpr (inner == 1) {
        const auto four = [&](int32_t x) {
          const uint32_t word = *reinterpret_cast<const uint32_t*>(row + x);
          for (int k = 0; k < 4; ++k) add_count(own + (word >> 8 * k & 255), 1);
        };
        for_each_word(row, inside, true, four, [&](int32_t x) { add_count(own + row[x], 1); });
      } else {
        for (int32_t x = lane; x < inside; x += lanes) add_count(own + row[int64_t{x} * inner], 1);
      }
      for (int32_t x = inside + lane; x < r.tile_width; x += lanes)
        add_count(own + all[int64_t{mirrored_at(left + x, r.width)} * inner], 1);
    }
    wait_for_block();
    for (int i = thread(); i < 256; i += threads()) {
      int32_t sum = 0;
      for (int k = 0; k < kTileCopies; ++k) sum += copies[k * 256 + i];
      if (r.shift == 0) counts[i] = sum;
      else add_count(counts + (i >> r.shift), sum);
    }
    wait_for_block();
    finish_table(r, counts, sums, over, r.tables + tile * r.bins);
    wait_for_block();
  }
}

// The place between two tiles, as a part of their distance; `cell` is one more than the tile before.
PENSTOCK_KERNEL float tiles_before(int32_t at, float per_tile) { return static_cast<float>(at) * per_tile - 0.5f; }
// The first place, of n, that is in this cell or after it.
PENSTOCK_KERNEL int32_t cell_begin(int32_t cell, int32_t tile, float per_tile, int32_t n) {
  int32_t at = cell == 0 ? 0 : (cell - 1) * tile + tile / 2;
  at = at < n ? at : n;
  while (at > 0 && tiles_before(at - 1, per_tile) >= static_cast<float>(cell - 1)) --at;
  while (at < n && tiles_before(at, per_tile) < static_cast<float>(cell - 1)) ++at;
  return at;
}

// Units of work are cells: pixels between the same four tiles, whose results are in the bytes of a word.
template <int inner> PENSTOCK_KERNEL void mix_tiles(const Entry<TilesRow>& e) {
  const TilesRow& r = e.row;
  uint32_t* const packed = shared_memory<uint32_t>();
  const int lanes = lanes_of_row(), warp = static_cast<int>(thread()) / lanes;
  const int warps = static_cast<int>(threads()) / lanes, lane = static_cast<int>(thread()) % lanes;
  const int32_t down = r.tiles_y + 1, across = r.tiles_x + 1;
  for (int64_t unit = e.begin; unit < e.end; ++unit) {
    const int64_t plane = unit / (int64_t{down} * across);
    const auto rest = static_cast<int32_t>(unit - plane * down * across);
    const int32_t cy = rest / across, cx = rest % across;
    const int32_t y0 = cy > 0 ? cy - 1 : 0, y1 = cy < r.tiles_y ? cy : cy - 1;
    const int32_t x0 = cx > 0 ? cx - 1 : 0, x1 = cx < r.tiles_x ? cx : cx - 1;
    const uint8_t* const tables = r.tables + plane * r.tiles_y * r.tiles_x * r.bins;
    const auto table = [&](int32_t y, int32_t x) { return tables + (int64_t{y} * r.tiles_x + x) * r.bins; };
    const uint8_t *const a = table(y0, x0), *const b = table(y0, x1), *const c = table(y1, x0),
                         *const d = table(y1, x1);
    for (int i = thread(); i < 256; i += threads()) {
      const int v = i >> r.shift;
      packed[i] = a[v] | b[v] << 8 | c[v] << 16 | static_cast<uint32_t>(d[v]) << 24;
    }
    const int32_t top = cell_begin(cy, r.tile_height, r.per_height, r.height);
    const int32_t bottom = cy == r.tiles_y ? r.height : cell_begin(cy + 1, r.tile_height, r.per_height, r.height);
    const int32_t left = cell_begin(cx, r.tile_width, r.per_width, r.width);
    const int32_t right = cx == r.tiles_x ? r.width : cell_begin(cx + 1, r.tile_width, r.per_width, r.width);
    const int64_t offset = plane_offset<inner>(r, plane);
    wait_for_block();
    for (int32_t y = top + warp; y < bottom; y += warps) {
      const float w = tiles_before(y, r.per_height) - static_cast<float>(cy - 1);
      const int64_t row = offset + (int64_t{y} * r.width + left) * inner;
      const uint8_t* const from = r.in + row;
      uint8_t* const to = r.out + row;
      const auto mixed = [&](int32_t x, int v) {
        const float u = tiles_before(left + x, r.per_width) - static_cast<float>(cx - 1);
        const uint32_t word = packed[v];
        const auto byte = [&](int k) { return static_cast<float>(static_cast<int32_t>(word >> 8 * k & 255)); };
        return stored<uint8_t>((byte(0) * (1 - u) + byte(1) * u) * (1 - w) + (byte(2) * (1 - u) + byte(3) * u) * w);
      };
      if constexpr (inner == 1) {
        const bool whole = ((reinterpret_cast<uint64_t>(from) ^ reinterpret_cast<uint64_t>(to)) & 3) == 0;
        const auto four = [&](int32_t x) {
          const uint32_t own = *reinterpret_cast<const uint32_t*>(from + x);
          uint32_t made = 0;
          PENSTOCK_UNROLL
          for (int k = 0; k < 4; ++k) made |= static_cast<uint32_t>(mixed(x + k, own >> 8 * k & 255)) << 8 * k;
          *reinterpret_cast<uint32_t*>(to + x) = made;
        };
        for_each_word(from, right - left, whole, four, [&](int32_t x) { to[x] = mixed(x, from[x]); });
      } else {
        for (int32_t x = lane; x < right - left; x += lanes) to[x * inner] = mixed(x, from[x * inner]);
      }
    }
    wait_for_block();
  }
}

}  // namespace penstock::table
