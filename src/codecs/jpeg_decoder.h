// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "codecs/image_decoder.h"

struct jpeg_decompress_struct;

namespace penstock {

// The part of a JPEG image that libjpeg-turbo is asked for, so that each pixel of the region is that of a full decode.
struct JpegWindow {
  bool crop = false;         // whether jpeg_crop_scanline is called
  int64_t x = 0, width = 0;  // columns
  int64_t skip = 0;          // rows given to jpeg_skip_scanlines
};
// After jpeg_start_decompress.
JpegWindow choose_jpeg_window(const jpeg_decompress_struct& d, const Region& region);

const ImageDecoder& libjpeg_turbo_decoder();

}  // namespace penstock
