// SPDX-License-Identifier: Apache-2.0
// One decoded frame on its way into a batch: what the kernel is given.
#pragma once
#include "pixel/yuv_rgb.h"

namespace penstock::video_gpu {

// A plane of Y and one of interleaved Cb and Cr, which begin at the frame's first pixel. Samples of more than 8 bits
// lie in the upper bits of 16.
struct FrameTable {
  const uint8_t* luma;
  const uint8_t* chroma;
  int64_t pitch;  // bytes of a row, of both planes
  void* out;      // height x width x 3, dense: bytes, or floats: byte * scale
  int32_t width, height, bits, floats;
  float scale;
  YuvRgb matrix;
};
constexpr int kPixelsAcross = 4;  // of a thread, in two rows

}  // namespace penstock::video_gpu
