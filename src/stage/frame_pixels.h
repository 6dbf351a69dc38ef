// SPDX-License-Identifier: Apache-2.0
// The pixels of a frame as the input of a stage (StageCode::reads_frames).
#pragma once
#include "stage/geometry.h"

namespace penstock {

// The type and the shape of the pixels, of a sample with this shape. Throws in the name of the operator.
inline const ValueType& pixel_type(const StageCode& code) { return code.program.nodes[0].type; }
Shape pixel_shape(const StageCode& code, const SampleContext& context, const Shape& in);

// The same as a view whose elements have places, but no memory: element c of pixel (y, x) is at
// (frame << frame_shift | y) << row_shift | x << 2 | c. Strides, windows and taps are sums of places, as with memory.
View pixel_view(const StageCode& code, const SampleContext& context, const View& in, FrameAddress& address);

}  // namespace penstock
