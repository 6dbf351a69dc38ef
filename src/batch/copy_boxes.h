// SPDX-License-Identifier: Apache-2.0
// Copies of elements between memories of any strides: runs, transposes, mirrors, channels in another order.
#pragma once
#include <cstdint>
#include <span>

#include "base/target.h"

namespace penstock {

struct CopyDim {
  int64_t extent, from, to;  // strides in bytes, of either sign; 0 in the source repeats
};
constexpr int kMostCopyDims = 10;

// Elements of 1, 2, 4 or 8 bytes; `from` and `to` are the places of the first one. The memories do not overlap.
void copy_boxes(const void* from, void* to, std::span<const CopyDim> dims, int64_t bytes, Target = best_target());

}  // namespace penstock
