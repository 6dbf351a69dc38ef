// SPDX-License-Identifier: Apache-2.0
// Frames of cameras and videos (luma, and chroma with fewer samples) and packed pixels, to colors, gray and back. An
// operator gives both sides as planes with pitches (kernels/frame.h); twin.h says what comes out.
#pragma once
#include "base/target.h"
#include "families/frame/kernels/frame.h"
#include "operator/kernel_step.h"

namespace penstock::frame {

// On the host, rows from `first` on. Elements are uint8; without chroma and bits also uint16 and float32.
void frame_rows(Target target, DType dtype, const FrameRow& row, int64_t first = 0);

inline void frame_step(DType dtype, const FrameRow& row, SampleWork& to) {
  if (row.height == 0 || row.width == 0) return;
  to.kernel({{"families/frame/kernels/frame.h", "frame::frame", {dtype}, {row.in.kind, row.out.kind}, nullptr},
             row_bytes(row),
             frame_units(row),
             0,
             nullptr,
             0,
             [=] { frame_rows(best_target(), dtype, row); }});
}

}  // namespace penstock::frame
