// SPDX-License-Identifier: Apache-2.0
// The size rules of resize: which interval of each axis becomes how many samples.
#pragma once
#include <cstdint>
#include <string>

namespace penstock {

enum class ResizeMode : uint8_t { default_, stretch, not_larger, not_smaller };
ResizeMode resize_mode(const std::string& name);
enum class ResizeRounding : uint8_t { round, truncate, ceil };  // round: half away from zero
ResizeRounding resize_rounding(const std::string& name);

constexpr int kMaxResized = 3;

// What the arguments say about one sample, per spatial axis in the order of the shape.
struct ResizeRequest {
  int axes = 2;
  ResizeMode mode = ResizeMode::default_;
  double wanted[kMaxResized] = {};  // 0: not given; negative: mirrored
  double limit[kMaxResized] = {};   // of the result; 0: no limit
  bool region = false;              // lo, hi are given; else the whole axis
  bool relative = false;            // ... in units of the axis
  double lo[kMaxResized] = {}, hi[kMaxResized] = {};
  bool subpixel = true;  // the interval grows with the rounding of the size, so that the scale stays exact
  ResizeRounding rounding = ResizeRounding::round;
  double alignment[kMaxResized] = {0.5, 0.5, 0.5};  // the part of the interval whose place stays where it grows
};

struct ResizedAxis {
  double lo = 0, hi = 0;  // in input samples; lo > hi mirrors
  int64_t out = 0;
};
void resized_axes(const ResizeRequest& request, const int64_t* extents, ResizedAxis* result);

// The size of one axis if it does not depend on the size of the input, else -1.
int64_t resized_extent(const ResizeRequest& request, int axis);

}  // namespace penstock
