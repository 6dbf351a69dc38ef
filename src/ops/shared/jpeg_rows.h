// SPDX-License-Identifier: Apache-2.0
// families/blocks/jpeg.h on the CPU, by rows and by columns of blocks: the same bytes.
#pragma once
#include "base/target.h"
#include "families/blocks/kernels/jpeg.h"

namespace penstock {

// All groups of `frames` images to their planes.
void jpeg_blocks(Target target, const blocks::JpegRow& r, int64_t frames);
// The planes as pixels.
void jpeg_colors(Target target, const blocks::JpegRow& r, int64_t frames);

}  // namespace penstock
