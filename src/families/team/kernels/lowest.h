// SPDX-License-Identifier: Apache-2.0
// Teams whose threads lower a number together.
#pragma once
#include "families/team/kernels/team.h"

namespace penstock::whole {

// The number before.
PENSTOCK_KERNEL int32_t lowered(int32_t* at, int32_t v) {
#ifdef __CUDACC__
  return atomicMin(at, v);
#else
  const int32_t before = *at;
  if (v < before) *at = v;  // threads run in turn
  return before;
#endif
}

}  // namespace penstock::whole
