// SPDX-License-Identifier: Apache-2.0
// The samples of its source that a placement reads: what a decoder has to produce.
#pragma once
#include "operator/placement.h"

namespace penstock {

// Positions [lo, hi) of dimension `dim` that contain all samples that the outputs read, including those of weight zero.
struct SourceRange {
  int64_t lo = 0, hi = 0;
};
SourceRange source_range(const Placement& p, int dim);

}  // namespace penstock
