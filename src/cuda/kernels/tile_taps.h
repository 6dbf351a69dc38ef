// SPDX-License-Identifier: Apache-2.0
// The taps of a tile's outputs, computed by its block.
#pragma once
#include "cuda/kernels/spellings.h"
#include "cuda/kernels/stage_row.h"

namespace penstock {
PENSTOCK_HD inline int log2_of(int n) {
#ifdef PENSTOCK_EMULATED
  return 31 - __builtin_clz(n);
#else
  return 31 - __clz(n);
#endif
}
// One of the two axes of a tile.
struct TileAxis {
  AxisTaps taps;
  int64_t begin, step;  // the filter's output for the first output that reads the input, and the step to the next
  int32_t extent;       // of the tile
  int64_t hop;          // source elements from tap to tap
};
__device__ inline TileAxis tile_axis(const char* table, const TileAxisRow& row) {
  TileAxis a;
  a.taps = row.taps;
  if (a.taps.window) a.taps.window = reinterpret_cast<const float*>(table + reinterpret_cast<int64_t>(a.taps.window));
  a.begin = row.begin, a.step = row.step, a.extent = static_cast<int32_t>(row.extent), a.hop = row.hop;
  return a;
}
// Computes the taps of outputs [0, n) of a tile: weight k of output i at weight[k * pitch + i]. If the kind is known,
// the kernel does not contain the functions of the others. `skip`: threads that are busy with the other axis.
template <int kind>
__device__ PENSTOCK_NOINLINE void tile_taps(AxisTaps a, int64_t begin, int64_t step, int n, int pitch, int32_t* first,
                                            float* weight, int skip = 0) {
  if (kind >= 0) a.kind = static_cast<FilterKind>(kind);
  for (int i = (threadIdx.x + blockDim.x - skip % blockDim.x) % blockDim.x; i < n; i += blockDim.x) {
    const OutputTaps t = output_taps(a, begin + step * i);
    first[i] = static_cast<int32_t>(t.first);
    if (!t.folded && a.kind != FilterKind::nearest && a.kind != FilterKind::window && !is_area(a.kind)) {
      // As kernel_weight for each tap, without conversions of integers.
      const double first_tap = static_cast<double>(t.begin), center = t.center - 0.5;
      double sum = 0, at = first_tap;
      for (int k = 0; k < a.taps; ++k, at += 1.0) sum += filter_kernel(a.kind, at - center, a.inverse_radius);
      const double scale = kernel_scale(sum);
      at = first_tap;
      for (int k = 0; k < a.taps; ++k, at += 1.0)
        weight[k * pitch + i] = kept_weight(a, (0.0 + filter_kernel(a.kind, at - center, a.inverse_radius)) * scale);
      continue;
    }
    const double scale = kernel_scale(a, t);
    for (int k = 0; k < a.taps; ++k) weight[k * pitch + i] = tap_weight(a, t, scale, k);
  }
}
}  // namespace penstock
