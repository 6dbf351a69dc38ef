// SPDX-License-Identifier: Apache-2.0
// Teams that fill holes of images (A. Telea, 2004).
#pragma once
#include "families/team/kernels/lowest.h"

namespace penstock {

struct TeleaCoef {
  int64_t height;
  int64_t width;
  int64_t channels;
  int64_t radius;
  int64_t slopes;
  int64_t inward;  // of a band and its rounds; else outward
};
constexpr int32_t kTeleaNever = 2147483647;
constexpr int64_t kTeleaNumbers = 5;  // of a pixel, beside two

struct TeleaMemory {
  int32_t* counts;   // of the bands: outward, inward
  float* distance;   // from the border of a hole: negative outside
  int32_t* order;    // the round in which a pixel is reached; -1: never
  int32_t* reached;  // in this round
  int32_t* next;
  int32_t* claims;  // which neighbors of a reached pixel it reaches
  PENSTOCK_HD TeleaMemory(void* memory, int64_t pixels)
      : counts(static_cast<int32_t*>(memory)),
        distance(reinterpret_cast<float*>(counts + 2)),
        order(reinterpret_cast<int32_t*>(distance + pixels)),
        reached(order + pixels),
        next(reached + pixels),
        claims(next + pixels) {}
};

struct TeleaPlace {
  int64_t y, x;
  PENSTOCK_HD bool inside(const TeleaCoef& c) const { return y >= 0 && y < c.height && x >= 0 && x < c.width; }
  PENSTOCK_HD TeleaPlace beside(int side) const {
    return {y + (side == 0 ? -1 : side == 1 ? 1 : 0), x + (side == 2 ? -1 : side == 3 ? 1 : 0)};
  }
};
// An image has fewer than 2^31 pixels.
PENSTOCK_HD inline TeleaPlace telea_place(int64_t i, const TeleaCoef& c) {
  const uint32_t at = static_cast<uint32_t>(i), width = static_cast<uint32_t>(c.width), y = at / width;
  return {y, at - y * width};
}

}  // namespace penstock

namespace penstock::whole {

// The number before.
PENSTOCK_KERNEL int32_t raised_by_one(int32_t* at) {
#ifdef __CUDACC__
  return atomicAdd(at, 1);
#else
  return (*at)++;  // threads run in turn
#endif
}

}  // namespace penstock::whole
