// SPDX-License-Identifier: Apache-2.0
// Means of rectangles on the CPU. Across a row, windows of 1, 4, 16, ... elements are joined until they are as wide as
// asked; down, so do those of floating point, and those of integers slide: a row enters, a row leaves.
#pragma once
#include "base/target.h"
#include "families/window/box_tiles.h"

namespace penstock::window {

// The loops for one type of elements and one target (box_loops.inc.h). Lanes are sums across a row, which may be
// narrower than the sums of rows. Lengths and distances are in elements.
struct BoxLoops {
  size_t element_bytes, lane_bytes, sum_bytes;
  bool integers;
  void (*load)(void* lanes, const void* elements, int64_t n);  // null: lanes are elements
  void (*at_once[kMostBoxAtOnce])(void* lanes, const void* elements, int64_t step, int64_t n);
  void (*down[kMostBoxAtOnce])(void* elements, const void* const* rows, const BoxMean&, int64_t n);
  void (*store)(void* elements, const void* sums, const BoxMean&, int64_t n);
  void (*four)(void* to, const void* a, const void* b, const void* c, const void* d, int64_t n);
  // 1 to 3 windows; then with those that `to` has of what is after them.
  void (*some[3][2])(void* to, const void* a, const void* b, const void* c, int64_t n);
  void (*add)(void* sums, const void* row, int64_t n);
  // The mean with a row that enters; then another one leaves.
  void (*slide)(void* elements, void* sums, const void* entering, const void* leaving, const BoxMean&, int64_t n);
};

void box_rows(Target target, DType dtype, const void* in, void* out, const Window& window);

}  // namespace penstock::window
