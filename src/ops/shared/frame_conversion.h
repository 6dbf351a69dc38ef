// SPDX-License-Identifier: Apache-2.0
// Pixels of one format as another: as a row of the family of frames, and as the source of a stage.
#pragma once
#include "families/frame/frame.h"
#include "operator/pixel_source.h"
#include "ops/shared/frame_formats.h"

namespace penstock {

struct FrameConversion {
  ColorFormat from, to;
  const frame::Matrix& matrix;

  frame::FrameRow row(const frame::Side& in, const void* out, PixelExtents e, size_t element) const;
  // As PixelSource says. Both are of bytes, and `to` has colors or gray.
  FrameFormat format() const;
  FramePlanes planes(PixelExtents e) const;
  void convert(const void* in, PixelExtents e, const FrameRegion& region, uint8_t* pixels, int64_t pitch) const;
};

}  // namespace penstock
