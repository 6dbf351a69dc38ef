// SPDX-License-Identifier: Apache-2.0
// Places outside a line, mirrored at its ends: the first and the last element are not repeated.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

// The element that is read at `at`, which may be outside n elements.
PENSTOCK_HD inline int64_t mirrored(int64_t at, int64_t n) {
  const int64_t period = n > 1 ? 2 * (n - 1) : 1;
  const int64_t x = (at % period + period) % period;
  return n == 1 ? 0 : x < n ? x : period - x;
}

}  // namespace penstock
