// SPDX-License-Identifier: Apache-2.0
// Tells a compiler that an address is in global memory. Then loads from it need not wait for stores to shared memory,
// which could be to the same address otherwise.
#pragma once
#include "launch/entry.h"

namespace penstock::whole {

template <class T> PENSTOCK_KERNEL T* in_global_memory(T* p) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

}  // namespace penstock::whole
