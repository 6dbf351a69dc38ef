// SPDX-License-Identifier: Apache-2.0
// RGB of bytes to Lab of bytes: sums of whole numbers between two tables in place of the pixel function of
// color_space_conversion, with its bytes.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock::frame {

struct LabTables {
  // Of the value of a channel: what it adds to x, y and z, in parts of 4096 of a step. The first channel's have a half.
  alignas(16) int32_t light[3][256][4];
  // Of the step of x, y or z: its root in parts of 32768. Of that of y: the lightness.
  uint16_t root[2048];
  uint8_t lightness[2048];
};
// n pixels. False: the target has no vectors for it.
bool lab_pixels(Target target, const LabTables& tables, const uint8_t* in, uint8_t* out, int64_t n);

}  // namespace penstock::frame
