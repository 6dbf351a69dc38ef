// SPDX-License-Identifier: Apache-2.0
// The rules of jpeg_blocks.h on the CPU, by rows and by columns of blocks: the same bytes.
#pragma once
#include "base/target.h"
#include "ops/shared/jpeg_blocks.h"

namespace penstock {

// All groups of an image of the coefficients' size, to its planes. `in` has the bytes of `frames` images.
void jpeg_blocks(Target target, const uint8_t* in, int64_t frames, const JpegBlocksRule::Coef& c);
// The planes as pixels.
void jpeg_colors(Target target, uint8_t* out, const JpegColorsRule::Coef& c);

}  // namespace penstock
