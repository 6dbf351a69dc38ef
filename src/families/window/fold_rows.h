// SPDX-License-Identifier: Apache-2.0
// Folds over windows on the CPU: across a row, windows of 1, 3, 9, ... elements are joined until they are as wide as
// asked; down, three rows at once, or blocks of rows from both ends (van Herk). The work for an element grows with the
// logarithm of the width and not with the height.
#pragma once
#include <cstddef>
#include <cstdint>

#include "families/window/geometry.h"

namespace penstock::window {

// The loops of a rule for one type of elements and one target (fold_loops.inc.h). Lanes are what is folded: the
// elements, or float32 for float16. Lengths and distances are in lanes.
struct FoldLoops {
  size_t element_bytes, lane_bytes;
  // NaN becomes the identity, for it does not take part; returns whether there was one. `gather` takes the elements
  // of a row at indices, the identity at -1.
  bool (*load)(void* lanes, const void* elements, int64_t n);
  bool (*gather)(void* lanes, const void* row, const int64_t* indices, int64_t n);
  bool (*has_nan)(const void* elements, int64_t n);                                      // null: the type has none
  void (*store)(void* elements, const void* lanes, int64_t n);                           // null: lanes are elements
  void (*keep_nan)(void* elements, const void* row, const int64_t* indices, int64_t n);  // those of the row
  void (*join)(void* to, const void* a, const void* b, int64_t n);
  // Windows at three places; `to` may be `from`. `ahead`: memory to fetch along the way, or null.
  void (*join_three)(void* to, const void* from, int64_t second, int64_t third, int64_t n, const void* ahead);
  // Windows of three rows, for two rows of the output.
  void (*two_rows)(void* const* to, const void* const* rows, int64_t n);
  // prefix = combine(prefix, row), to = combine(suffix, prefix)
  void (*next_row)(void* to, void* prefix, const void* row, const void* suffix, int64_t n);
};

void fold_rows(const FoldLoops& loops, const void* in, void* out, const Window& window);

}  // namespace penstock::window
