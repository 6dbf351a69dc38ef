// SPDX-License-Identifier: Apache-2.0
// What a placement reads of its source: what a decoder has to make.
#pragma once
#include "ops/machine/placement.h"

namespace penstock {

// Positions [lo, hi) of dimension `dim` that hold every sample that any output reads, with weights of zero as well.
struct SourceRange {
  int64_t lo = 0, hi = 0;
};
SourceRange source_range(const Placement& p, int dim);

}  // namespace penstock
