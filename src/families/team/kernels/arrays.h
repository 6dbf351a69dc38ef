// SPDX-License-Identifier: Apache-2.0
// What a rule of a team (families/team/team.h) sees on both devices besides its threads.
#pragma once
#include <cstdint>

#include "launch/refusal.h"
#include "pixel/host_device.h"

namespace penstock {

// Dense memory of a sample, in the order in which its operator names it.
struct Arrays {
  const void* in[4];
  void* out[4];
  template <class T> PENSTOCK_HD const T* from(int k) const { return static_cast<const T*>(in[k]); }
  template <class T> PENSTOCK_HD T* to(int k) const { return static_cast<T*>(out[k]); }
};

// The part of n items, in order, that thread `index` of `count` takes.
struct Share {
  int64_t begin, end;
};
PENSTOCK_HD inline Share share_of(int64_t n, int64_t index, int64_t count) {
  return {n * index / count, n * (index + 1) / count};
}

// The upper half of the product.
PENSTOCK_HD inline uint64_t high_product(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xFFFFFFFFu);
  return a1 * b1 + (middle >> 32) + (other >> 32);
}

}  // namespace penstock
