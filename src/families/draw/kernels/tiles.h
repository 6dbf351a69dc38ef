// SPDX-License-Identifier: Apache-2.0
// Drawings over images of bytes, on a GPU: a block draws the tiles that a drawing touches, each pixel by one thread.
#pragma once
#include <cstdint>

#include "launch/entry.h"
#include "launch/global_memory.h"
#include "pixel/host_device.h"

namespace penstock::draw {

using namespace whole;

constexpr int kTileWidth = 64, kTileHeight = 16, kMostChannels = 4;

// Pixels from `left` to before `right`, in rows from `top` to before `bottom`.
struct Patch {
  int32_t left, top, right, bottom;
  int32_t ink;  // its number
};
struct Ink {
  int32_t color[kMostChannels];
  int32_t opacity;  // of 255
};
// What an ink makes of a value: rounded to the nearest number.
PENSTOCK_HD inline int32_t blended(int32_t v, int32_t color, int32_t opacity) {
  return (v * (255 - opacity) + color * opacity + 127) / 255;
}

// A tile, and where its patches are listed: in the order in which they are drawn.
struct Tile {
  int32_t x, y, begin, end;
};
struct DrawRow {
  void* out;
  int64_t height, width, channels;
  int64_t pixel, plane, image;           // from a pixel, a channel, an image to the next one, in bytes
  int64_t tiles, patches, inks, listed;  // how many
  InData<char> table;                    // tiles, patches, inks, numbers of patches
};

// Units of work are the touched tiles of the first image, then those of the next one.
template <class T> PENSTOCK_KERNEL void draw_tiles(const Entry<DrawRow>& e) {
  const DrawRow& r = e.row;
  const char* const table = e.at(r.table);
  const Tile* const tiles = reinterpret_cast<const Tile*>(table);
  const Patch* const patches = reinterpret_cast<const Patch*>(tiles + r.tiles);
  const Ink* const inks = reinterpret_cast<const Ink*>(patches + r.patches);
  const int32_t* const listed = reinterpret_cast<const int32_t*>(inks + r.inks);
  for (int64_t unit = e.begin; unit < e.end; ++unit) {
    const int64_t image = unit / r.tiles;
    const Tile tile = tiles[unit - image * r.tiles];
    T* const to = in_global_memory(static_cast<T*>(r.out)) + image * r.image;
    for (int k = static_cast<int>(thread()); k < kTileWidth * kTileHeight; k += static_cast<int>(threads())) {
      const int32_t x = tile.x + k % kTileWidth;
      const int32_t y = tile.y + k / kTileWidth;
      if (x >= r.width || y >= r.height) continue;
      T* const at = to + (y * r.width + x) * r.pixel;
      int32_t v[kMostChannels];
      for (int c = 0; c < kMostChannels; ++c) v[c] = c < r.channels ? at[c * r.plane] : 0;
      bool touched = false;
      for (int32_t i = tile.begin; i < tile.end; ++i) {
        const Patch p = patches[listed[i]];
        if (x < p.left || x >= p.right || y < p.top || y >= p.bottom) continue;
        touched = true;
        for (int c = 0; c < kMostChannels; ++c) v[c] = blended(v[c], inks[p.ink].color[c], inks[p.ink].opacity);
      }
      if (!touched) continue;
      for (int c = 0; c < kMostChannels; ++c) {
        if (c < r.channels) at[c * r.plane] = static_cast<T>(v[c]);
      }
    }
  }
}

}  // namespace penstock::draw
