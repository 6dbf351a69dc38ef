// SPDX-License-Identifier: Apache-2.0
// Teams that connect the pixels of regions: parents lead to the first pixel of a region, -1 is of none.
#pragma once
#include "families/team/kernels/lowest.h"

namespace penstock::whole {

PENSTOCK_KERNEL int32_t first_of_region(const int32_t* parent, int32_t i) {
  const volatile int32_t* const known = parent;
  while (known[i] != i) i = known[i];
  return i;
}
PENSTOCK_KERNEL void unite_regions(int32_t* parent, int32_t a, int32_t b) {
  for (;;) {
    a = first_of_region(parent, a);
    b = first_of_region(parent, b);
    if (a == b) return;
    const int32_t low = a < b ? a : b;
    const int32_t high = a < b ? b : a;
    const int32_t before = lowered(parent + high, low);
    if (before == high) return;
    a = low;
    b = before;
  }
}
PENSTOCK_KERNEL void count_one(int32_t* at) {
#ifdef __CUDACC__
  atomicAdd(at, 1);
#else
  ++*at;  // threads run in turn
#endif
}

}  // namespace penstock::whole

namespace penstock {

struct RegionCoef {
  int64_t height, width;
  int64_t background;
  int64_t least;  // pixels of a region
  int32_t diagonal;
  int32_t by_value;
  int32_t statistics;
  int32_t unused;
};

// What the kernels share, for each pixel.
struct RegionArrays {
  int32_t* parent;
  int32_t* area;    // at the first pixel of a region
  int32_t* number;  // and its number, 0 if it is too small
  PENSTOCK_HD RegionArrays(void* memory, int64_t pixels)
      : parent(static_cast<int32_t*>(memory)), area(parent + pixels), number(area + pixels) {}
};

}  // namespace penstock
