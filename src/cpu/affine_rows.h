// SPDX-License-Identifier: Apache-2.0
// Rows of an affine resampling: the source is in memory, each output pixel reads its neighbors.
#pragma once
#include "ops/machine/bound_op.h"

namespace penstock {

struct AffineSource {
  const void* data = nullptr;
  DType dtype = DType::none;
  int64_t depth = 1, height = 0, width = 0;
  int channels = 1;
  int64_t stride_z = 0, stride_y = 0, stride_x = 0, stride_c = 0;  // elements
};
// planes[c][i], i in [0, n): values at output (x + i, y, z); `fill` has one entry or one per channel.
void affine_row(const AffineSource& s, const AffineMap& map, const std::vector<float>& fill, int64_t x, int64_t y,
                int64_t z, int64_t n, float* const* planes);

}  // namespace penstock
