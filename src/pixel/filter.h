// SPDX-License-Identifier: Apache-2.0
// One-dimensional filters and the tap tables that resampling and convolution are made of.
#pragma once
#include <cstdint>
#include <vector>

#include "pixel/taps.h"

namespace penstock {

// How one axis is filtered: output o reads around lo + (o + 0.5) * (hi - lo) / out, in input samples
// (sample i covers [i, i + 1)); lo > hi mirrors. Taps outside of [0, in) read the border.
struct AxisFilter {
  using Border = FilterBorder;
  FilterKind kind = FilterKind::linear;
  bool antialias = true;  // widen the support when shrinking
  double lo = 0, hi = 0;
  int64_t out = 0;
  Border border = Border::clamp;
  std::vector<float> window;  // kind window: odd number of weights of a convolution, correlation order
  friend bool operator==(const AxisFilter&, const AxisFilter&) = default;
};

// Output o = sum over k < taps of weight[o * taps + k] * input[first[o] + k]; all indices are inside [0, in):
// taps that fall outside are folded onto the samples that the border rule names.
struct TapTable {
  int taps = 0;
  int64_t lowest = 0, highest = 0;  // inputs that are read: [lowest, highest)
  bool copies = false;              // one tap of weight 1
  std::vector<int32_t> first;
  std::vector<float> weight;
};

// The filter on an axis with `in` samples, for the taps of one output at a time; f.window must live as long.
AxisTaps axis_taps(const AxisFilter& f, int64_t in);
// Taps of the outputs begin, begin + step, ... (count of them) of the filter on an axis with `in` samples.
// Weights are computed in double, normalized to sum 1 (except kind window) and rounded to float once.
void make_taps(const AxisFilter& f, int64_t in, int64_t begin, int64_t step, int64_t count, TapTable& table);

// Weights of a Gaussian window of odd `size`; sigma <= 0 means the size decides, size <= 0 means sigma decides.
// Appended to `to`; their number is returned.
int add_gaussian_window(float sigma, int size, std::vector<float>& to);

}  // namespace penstock
