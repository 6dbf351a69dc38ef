// SPDX-License-Identifier: Apache-2.0
// Arguments that have one value for each frame of a sample: a stage computes such samples frame by frame.
#pragma once
#include <span>
#include <vector>

#include "stage/code.h"

namespace penstock {

// How many frames of the sample differ in their arguments; 1: none. Throws where an argument has another number of
// values than there are frames. `shapes`: of all values, the inputs first; empty: of a stage that decodes.
int64_t differing_frames(const StageCode& code, int sample, std::span<const Shape> shapes);
// Whether all values have the same frames in the same order.
bool keeps_frames(const StageCode& code, const SampleContext& context, std::span<const Shape> shapes);
// A frame of an input of a stage whose result has `ndim` dimensions, `dim` of them the frames. Trailing dimensions are
// aligned, extents of 1 are repeated.
View frame_of(const View& input, int dim, int ndim, int64_t frame);

}  // namespace penstock
