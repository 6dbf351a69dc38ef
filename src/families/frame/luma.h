// SPDX-License-Identifier: Apache-2.0
// YCrCb and YUV of bytes to RGB of bytes, in words in place of the pixel function of color_space_conversion, with its
// bytes.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock::frame {

// Factors of the chromas in parts of 16384; those above 32767 are even.
struct LumaNumbers {
  int32_t red, green_red, green_blue, blue;
  bool red_first, blue_first;  // the chroma of red before that of blue; blue before red
};
// n pixels. False: the target has no vectors for it.
bool luma_pixels(Target target, const LumaNumbers& numbers, const uint8_t* in, uint8_t* out, int64_t n);

}  // namespace penstock::frame
