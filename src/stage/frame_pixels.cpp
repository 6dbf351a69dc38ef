// SPDX-License-Identifier: Apache-2.0
#include "stage/frame_pixels.h"

#include <bit>

#include "operator/pixel_source.h"

namespace penstock {

Shape pixel_shape(const StageCode& code, const SampleContext& context, const Shape& in) {
  const BoundOp& op = *code.program.nodes[0].op;
  Shape pixels;
  try {
    op.shapes(context, std::span(&in, 1), std::span(code.program.inputs.data(), 1), std::span(&pixels, 1));
  } catch (Error& e) {
    e.op = op.info->name;
    throw;
  }
  return pixels;
}

// The exponent of the least power of two that is not less.
static int log2_above(int64_t n) { return n <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(n - 1)); }

View pixel_view(const StageCode& code, const SampleContext& context, const View& in, FrameAddress& address) {
  const ValueType& type = pixel_type(code);
  View pixels{in.data, type.dtype, type.layout, pixel_shape(code, context, in.shape), {}};
  const int h = type.layout.find('H');
  if (pixels.shape.volume() > 0)
    address.planes = pixel_source(*code.program.nodes[0].op)->frame_planes(in.shape, code.program.inputs[0].layout);
  address.row_shift = log2_above(pixels.shape[h + 1] * 4), address.frame_shift = log2_above(pixels.shape[h]);
  Shape strides = Shape::filled(pixels.shape.size(), 1);
  if (h > 0) strides[0] = int64_t{1} << (address.row_shift + address.frame_shift);
  strides[h] = int64_t{1} << address.row_shift, strides[h + 1] = 4;
  pixels.strides = strides;
  return pixels;
}

}  // namespace penstock
