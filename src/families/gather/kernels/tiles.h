// SPDX-License-Identifier: Apache-2.0
// What a launch of the family's kernel works on: rows of one or several samples, in tiles.
#pragma once
#include "families/gather/kernels/contract.h"
#include "launch/entry.h"

namespace penstock::gather {

// Samples that one thread makes, if all read at the same positions.
constexpr int kTogether = 4;

// An image as cells are read from it: the pixels around a position, all of them inside.
struct Plane {
  uint32_t end_y, end_x;  // of the first pixels of cells
  uint32_t stride;        // bytes
  uint32_t low;           // the lower bits of its address
};
// Images of 4 GiB have no cells: they are left to sample_anywhere().
constexpr Plane plane_of(const Source& s, int taps, int64_t pixel_bytes, uint64_t address) {
  const int64_t line = s.width * pixel_bytes;
  const bool small = (line >> 31) == 0 && ((line * s.height) >> 32) == 0 && pixel_bytes != 0;
  const auto end = [=](int32_t n) { return n < taps || !small ? 0 : n - taps + 1 < kNear ? n - taps + 1 : kNear; };
  return {static_cast<uint32_t>(end(s.height)), static_cast<uint32_t>(end(s.width)), static_cast<uint32_t>(line),
          static_cast<uint32_t>(address & 3)};
}

// The images of a sample follow each other, those of the output and those of the source.
struct RowHead {
  const void* in[kTogether];
  void* out[kTogether];
  int64_t in_bytes, out_bytes;  // of an image
  Source source;
  Plane plane;            // of the first image, in each of the samples
  int32_t height, width;  // of the output
};
template <class Coef> struct Row {
  RowHead head;
  Coef coef;
};
static_assert(sizeof(Row<int64_t>) == 136);

// Pixels that a thread has in flight: as many as registers hold.
constexpr int pixels_in_flight(int bytes_of_element, int channels, int filter) {
  return channels == 0 || filter == kCubic ? 1 : bytes_of_element == 1 ? 4 : 2;
}
// Pixels of a row that a thread makes, kAcross apart, and of each sample.
constexpr int pixels_of_thread(int bytes_of_element, int channels, int filter, int samples) {
  return samples > 1 ? 1 : pixels_in_flight(bytes_of_element, channels, filter);
}

// A block takes a tile at a time, so that rows of the source are read by one multiprocessor. A warp makes kDown rows of
// it: with two rows of 16, a map for each sample took less time, and all else more.
constexpr int kAcross = 32, kDown = 32 / kAcross, kTileRows = whole::kThreads / kAcross;
struct Tiles {
  int32_t across, down;

  PENSTOCK_HD Tiles(int32_t height, int32_t width, int pixels)
      : across((width - 1) / (kAcross * pixels) + 1), down((height - 1) / kTileRows + 1) {}
};
constexpr int64_t units_of(int32_t images, const Tiles& t) {
  return int64_t{images} * t.across * t.down * whole::kThreads;
}
struct Place {
  int32_t image, down, across;
};
PENSTOCK_KERNEL Place place_of(int64_t tile, const Tiles& t) {
  const auto whole = [](int64_t n, int32_t by) {
    return n >> 32 ? n / by : int64_t{static_cast<uint32_t>(n) / static_cast<uint32_t>(by)};
  };
  const int64_t line = whole(tile, t.across), image = whole(line, t.down);
  return {static_cast<int32_t>(image), static_cast<int32_t>(line - image * t.down),
          static_cast<int32_t>(tile - line * t.across)};
}
PENSTOCK_KERNEL Place after(Place p, const Tiles& t) {
  if (++p.across == t.across) {
    p.across = 0;
    if (++p.down == t.down) p.down = 0, ++p.image;
  }
  return p;
}

// ---- Warps. The host and the emulated GPU have one lane at a time.

#ifdef __CUDA_ARCH__
PENSTOCK_INLINE bool any_lane(bool here) { return __any_sync(~0u, here); }
PENSTOCK_INLINE void wait_for_lanes() { __syncwarp(); }
#else
PENSTOCK_INLINE bool any_lane(bool here) { return here; }
PENSTOCK_INLINE void wait_for_lanes() {}
#endif

}  // namespace penstock::gather
