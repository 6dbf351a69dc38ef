// SPDX-License-Identifier: Apache-2.0
// The entry of a table that a block works on.
#pragma once
#include <cstdint>

namespace penstock {

// The last entry whose blocks begin at or before this one. The lanes of a warp compare 32 entries at once.
#ifdef __CUDACC__
__device__ inline int find_entry(const int32_t* starts, int n, int block) {
  int lo = 0;
  const int lane = static_cast<int>(threadIdx.x & 31);
  while (n > 1) {
    const int step = (n + 31) / 32, place = lane * step;
    const unsigned before = __ballot_sync(~0u, place < n && starts[lo + place] <= block);
    const int k = 31 - __clz(before);
    lo += k * step;
    n = n - k * step < step ? n - k * step : step;
  }
  return lo;
}
#else
inline int find_entry(const int32_t* starts, int n, int block) {
  int lo = 0;
  for (int hi = n; hi - lo > 1;) {
    const int middle = (lo + hi) / 2;
    if (starts[middle] <= block) lo = middle;
    else hi = middle;
  }
  return lo;
}
#endif

}  // namespace penstock
