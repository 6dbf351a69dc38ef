// SPDX-License-Identifier: Apache-2.0
// The two passes of separable filtering, row by row. The order of the sum is the order of the taps, everywhere.
#pragma once
#include "ops/machine/bound_op.h"

namespace penstock {

struct FilterRows {
  // acc[i] = sum over k of weight[k] * rows[k][i], i in [0, n); rows hold T. With `more` the sum goes on from acc.
  void (*vertical_u8)(const uint8_t* const* rows, const float* weight, int taps, float* acc, int64_t n, bool more);
  void (*vertical_f32)(const float* const* rows, const float* weight, int taps, float* acc, int64_t n, bool more);
  // planes[c][o] = sum over k of weight[o * taps + k] * acc[(base[o] + k * step) * channels + c], o in [0, n).
  // acc must be readable 3 floats past its end.
  void (*horizontal)(const float* acc, int channels, const int32_t* base, int step, const float* weight, int taps,
                     float* const* planes, int64_t n);
  // out[i] = sum over k of weight[k] * in[i + k * hop], i in [0, n): outputs that share their weights.
  void (*convolve)(const float* in, int64_t hop, const float* weight, int taps, float* out, int64_t n);
};
const FilterRows& filter_rows(Target t);

}  // namespace penstock
