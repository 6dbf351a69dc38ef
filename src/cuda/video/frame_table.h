// SPDX-License-Identifier: Apache-2.0
// One decoded frame on its way into a batch: the kernel's input.
#pragma once
#include "pixel/yuv_rgb.h"

namespace penstock::video_gpu {

// A plane of Y and one of interleaved Cb and Cr, which begin at the frame's first pixel. Samples of more than 8 bits
// are in the upper bits of 16.
struct FrameTable {
  const uint8_t* luma;
  const uint8_t* chroma;
  int64_t pitch;  // bytes per row, of both planes
  void* out;      // height x width x 3, dense: bytes, or floats: byte * scale
  int32_t width, height, bits, floats;
  float scale;
  YuvRgb matrix;
};
constexpr int kPixelsAcross = 4;  // per thread, in two rows

}  // namespace penstock::video_gpu
