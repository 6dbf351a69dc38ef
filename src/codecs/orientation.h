// SPDX-License-Identifier: Apache-2.0
// EXIF orientations 1..8: which stored pixels a region of the upright picture needs, and the rotation itself.
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// Whether rows and columns are exchanged (5 to 8).
constexpr bool transposes(int orientation) { return orientation >= 5; }

// `region` in the upright picture of height x width -> the region of the stored picture.
Region stored_region(int orientation, int64_t height, int64_t width, const Region& region);

// Calls decode(stored region, sink) once, with the sink arranged so that `to` has the upright region in the end.
// Orientations 2 to 4 turn in place; 5 to 8 use a per-thread buffer of the region's size.
template <class Decode>
void decode_upright(int orientation, int64_t height, int64_t width, const Region& region, int64_t pixel_bytes,
                    const PixelSink& to, const Decode& decode);

// from: height rows of width pixels -> to: the upright picture (width rows of height pixels for 5 to 8).
void transpose_upright(int orientation, const uint8_t* from, int64_t height, int64_t width, int64_t pixel_bytes,
                       const PixelSink& to);
uint8_t* orientation_buffer(int64_t bytes);
void release_orientation_buffer();
void reverse_rows(const PixelSink& sink, int64_t height, int64_t width, int64_t pixel_bytes);

template <class Decode>
void decode_upright(int orientation, int64_t height, int64_t width, const Region& region, int64_t pixel_bytes,
                    const PixelSink& to, const Decode& decode) {
  const Region stored = stored_region(orientation, height, width, region);
  if (transposes(orientation)) {
    const int64_t row = stored.width * pixel_bytes;
    uint8_t* buffer = orientation_buffer(row * stored.height);
    decode(stored, PixelSink{buffer, row});
    transpose_upright(orientation, buffer, stored.height, stored.width, pixel_bytes, to);
    release_orientation_buffer();
    return;
  }
  const bool upside_down = orientation == 3 || orientation == 4;
  PixelSink sink = to;
  if (upside_down) {
    sink.data = static_cast<uint8_t*>(to.data) + (region.height - 1) * to.row_bytes;
    sink.row_bytes = -to.row_bytes;
  }
  decode(stored, sink);
  if (orientation == 2 || orientation == 3) reverse_rows(to, region.height, region.width, pixel_bytes);
}

}  // namespace penstock
