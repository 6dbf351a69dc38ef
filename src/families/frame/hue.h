// SPDX-License-Identifier: Apache-2.0
// RGB of bytes to HSV of bytes, by integers and a few float32, and back, in vectors of float32: in place of the pixel
// functions of color_space_conversion, with their bytes.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock::frame {

// Quotients are in parts of 4096: `hue` and `saturation` of 1, rounded. `turn`: what a whole turn is.
struct HueNumbers {
  float hue, saturation, turn;
  float blue_first;  // above 0
};
// n pixels. False: the target has no vectors for it.
bool hue_pixels(Target target, const HueNumbers& numbers, const uint8_t* in, uint8_t* out, int64_t n);

// The coefficients of HSV to RGB (src/ops/_color_hue.cpp).
struct TurnNumbers {
  float sixths, unit, full;
  float cuts, blue_first;  // above 0
};
bool turn_pixels(Target target, const TurnNumbers& numbers, const uint8_t* in, uint8_t* out, int64_t n);

}  // namespace penstock::frame
