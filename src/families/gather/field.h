// SPDX-License-Identifier: Apache-2.0
// Random fields of displacements, as operators use them: noise from -1 to 1, smoothed by a Gaussian.
#pragma once
#include "families/gather/kernels/field.h"
#include "operator/sample_work.h"

namespace penstock::gather {

struct Field {
  const float *x, *y;  // displacements in rows of an image, in pixels
};
// A field for images of (height, width), neither of which is 0. `sigma` is that of the Gaussian, in pixels; its window
// ends at 4 sigma, and reflects the noise at the border, as kReflect101. Steps that read it follow.
Field random_field(const RandomStream& draws, int32_t height, int32_t width, float sigma, float scale, SampleWork& to);

}  // namespace penstock::gather
