// SPDX-License-Identifier: Apache-2.0
// Frames that a stage reads as pixels: a whole operator that makes colors of one frame says where the samples of each
// pixel are, and what a pixel is of them. A stage then computes the pixels that it reads, and the operator's result is
// never in memory (docs/decisions/0047).
#pragma once
#include "operator/bound_op.h"
#include "pixel/frame_colors.h"

namespace penstock {

// What all samples share. A sample of chroma is for 2^half_x x 2^half_y pixels.
struct FrameFormat {
  frame::Kind kind = frame::chroma;
  int32_t half_x = 0, half_y = 0;
  int32_t step = 1, chroma_step = 1;  // bytes from sample to sample of a row
  int32_t channels = 3;               // of the result: 1 gray, 3 colors, 4 with alpha
  bool blue_first = false;
  frame::Matrix matrix{};
};
// Where the planes of a dense sample are, in bytes from its first one; from row to row, from frame to frame.
struct FramePlanes {
  int64_t plane[3], pitch[3], frame;
};
// Pixels of a frame. x is even, and so is the width unless the region ends with the row.
struct FrameRegion {
  int64_t frame, y, x, height, width;
};

class PixelSource {
 public:
  virtual FrameFormat frame_format() const = 0;
  virtual FramePlanes frame_planes(const Shape& in, const Layout& layout) const = 0;
  // The pixels of a region of a dense sample, side by side; `pitch` bytes from row to row.
  virtual void frame_pixels(const View& in, const FrameRegion& region, uint8_t* to, int64_t pitch) const = 0;

 protected:
  ~PixelSource() = default;
};

// What a whole operator is registered with; null where there is none, or for other arguments.
const PixelSource* pixel_source(const BoundOp& op);
using PixelSourceOf = const PixelSource* (*)(const BoundOp& op);
bool add_pixel_source(const char* op, PixelSourceOf of);

}  // namespace penstock
