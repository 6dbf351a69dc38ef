// SPDX-License-Identifier: Apache-2.0
// The dimensions that a kernel's threads go through.
#pragma once
#include "cuda/kernels/stage_block.h"

namespace penstock {

// The numbers of a row's dimensions and planes, in registers.
template <class Stage> struct StageLoops {
  typedef typename Stage::Index Index;
  static constexpr int kDims = Stage::kRow.dims, kInputs = Stage::kRow.inputs;
  Index extent[kDims], lo[kDims], hi[kDims], out[kDims], in[kInputs][kDims];
  Index plane_in[kInputs];  // strides

  PENSTOCK_HD inline explicit StageLoops(const StageRow<const char>& row) {
    PENSTOCK_UNROLL
    for (int d = 0; d < kDims; ++d) {
      const LoopRow& dim = row.dim(d);
      extent[d] = static_cast<Index>(dim.extent), out[d] = static_cast<Index>(dim.out_stride);
      lo[d] = 0, hi[d] = extent[d];
      if constexpr (Stage::kRow.fills) lo[d] = static_cast<Index>(dim.lo), hi[d] = static_cast<Index>(dim.hi);
      PENSTOCK_UNROLL
      for (int k = 0; k < kInputs; ++k) in[k][d] = static_cast<Index>(dim.in_stride[k]);
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kInputs; ++k) plane_in[k] = 0;
    if constexpr (Stage::kRow.has_plane) {
      const LoopRow& plane = row.plane();
      PENSTOCK_UNROLL
      for (int k = 0; k < kInputs; ++k) plane_in[k] = static_cast<Index>(plane.in_stride[k]);
    }
  }
  // The position with this number among groups of `positions` of the innermost dimension.
  PENSTOCK_HD inline void place(Index number, Index groups, int positions, Index (&x)[kDims]) const {
    x[kDims - 1] = number % groups * positions;
    number /= groups;
    PENSTOCK_UNROLL
    for (int d = kDims - 2; d > 0; --d) x[d] = number % extent[d], number /= extent[d];
    if constexpr (kDims > 1) x[0] = number;
  }
  PENSTOCK_HD static inline Index offset(const Index (&x)[kDims], const Index (&strides)[kDims]) {
    Index at = 0;
    PENSTOCK_UNROLL
    for (int d = 0; d < kDims; ++d) at += x[d] * strides[d];
    return at;
  }
};

}  // namespace penstock
