// SPDX-License-Identifier: Apache-2.0
// Raw images of a sensor, whose pixels have one color each, to three colors or to gray.
#pragma once
#include "base/target.h"
#include "families/window/kernels/mosaic.h"
#include "operator/kernel_step.h"

namespace penstock::window {

// The rows of the result, for elements of uint8 or uint16. mosaic_twin.h says what they are.
void mosaic_rows(Target target, DType dtype, const Mosaic& m, const void* in, void* out);

inline void mosaic_step(const View& in, const View& out, const Mosaic& m, SampleWork& to) {
  if (out.volume() == 0) return;
  const MosaicRow row{in.data, out.data, m};
  to.kernel({{"families/window/kernels/mosaic.h", "window::mosaic", {in.dtype}, {m.algorithm}, nullptr},
             row_bytes(row),
             in.dtype == DType::uint8 ? mosaic_units<uint8_t>(m) : mosaic_units<uint16_t>(m),
             0,
             nullptr,
             0,
             [=] { mosaic_rows(best_target(), in.dtype, m, in.data, out.data); }});
}

}  // namespace penstock::window
