// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// What the chunks before the pixels say, read without libpng and never outside the bytes.
struct PngHeader {
  int64_t height = 0, width = 0;
  int bits = 8;        // per sample or palette index
  int color_type = 2;  // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
  bool interlaced = false;
  int orientation = 1;  // from the eXIf chunk
  int channels() const { return color_type == 0 ? 1 : color_type == 4 ? 2 : color_type == 6 ? 4 : 3; }
};
PngHeader read_png_header(Bytes file);

}  // namespace penstock
