// SPDX-License-Identifier: Apache-2.0
// Frames and packed pixels in memory: how large they are, where their samples are, and their arithmetic.
#pragma once
#include <array>

#include "families/frame/kernels/frame.h"
#include "operator/image_layout.h"
#include "ops/shared/color_formats.h"

namespace penstock {

struct PixelExtents {
  int64_t height, width;
};

// Channels of a sample, and its rows for each row of pixels, as a fraction.
struct FrameShape {
  int channels, rows, of_rows;
};
FrameShape frame_shape(ColorFormat f);
// The arrays that its planes may be instead of one; 1: it has no such form.
int plane_count(ColorFormat f);

// A sample of chroma is for 2^x x 2^y pixels.
struct Halves {
  int x, y;
};
Halves halves_of(ColorFormat f);

// Throws where pixels of this format cannot have these extents.
void check_extents(ColorFormat f, PixelExtents e);
// From the rows and columns of a sample.
PixelExtents pixels_of(ColorFormat f, int64_t rows, int64_t columns);
inline int64_t rows_of(ColorFormat f, int64_t height) {
  const FrameShape s = frame_shape(f);
  return height * s.rows / s.of_rows;
}
// The address of the sample, or of each plane.
frame::Side frame_side(ColorFormat f, std::array<const void*, 3> planes, int count, PixelExtents e, size_t element);
// What luma and chroma of `f` are, as numbers.
frame::Matrix frame_matrix(const ColorArguments& a, ColorFormat f);

}  // namespace penstock
