// SPDX-License-Identifier: Apache-2.0
// One-dimensional filters, and the tap tables for resampling and convolution.
#pragma once
#include <cstdint>
#include <vector>

#include "pixel/taps.h"

namespace penstock {

// How one axis is filtered: output o reads around lo + (o + 0.5) * (hi - lo) / out, in input samples
// (sample i covers [i, i + 1)); lo > hi mirrors. Taps outside [0, in) read the border.
struct AxisFilter {
  using Border = FilterBorder;
  FilterKind kind = FilterKind::linear;
  bool antialias = true;  // widens the support when it shrinks
  double lo = 0, hi = 0;
  int64_t out = 0;
  Border border = Border::clamp;
  bool int16_weights = false;  // integers over the largest power of two that keeps those of the axis in 16 bits
  int8_t bits = 0;             // or: integers over this power of two
  bool rounds_up = false;      // kind area: weights a little above the means, so that halves of bytes become more
  NearestRule nearest = NearestRule::center;
  std::vector<float> window = {};  // kind window: odd number of weights of a convolution, correlation order
  friend bool operator==(const AxisFilter&, const AxisFilter&) = default;
};

// Output o = sum over k < taps of weight[o * taps + k] * input[first[o] + k]; all indices are inside [0, in):
// taps that fall outside are folded onto the samples that the border rule names.
struct TapTable {
  int taps = 0;
  int64_t lowest = 0, highest = 0;  // range of inputs that are read: [lowest, highest)
  bool copies = false;              // one tap of weight 1
  std::vector<int32_t> first;
  std::vector<float> weight;
};

// The filter on an axis with `in` samples, for computing the taps of one output at a time; f.window must live as long.
AxisTaps axis_taps(const AxisFilter& f, int64_t in);
// The taps of `count` outputs (begin, begin + step, ...) of the filter on an axis with `in` samples.
// Computes weights in double, normalizes them to sum 1 (except kind window) and rounds them to float once.
void make_taps(const AxisFilter& f, int64_t in, int64_t begin, int64_t step, int64_t count, TapTable& table);

// The weights of a Gaussian window of odd `size`. sigma <= 0: derived from size; size <= 0: derived from sigma.
// Appends them to `to` and returns their number.
int add_gaussian_window(float sigma, int size, std::vector<float>& to);

}  // namespace penstock
