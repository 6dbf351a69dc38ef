// SPDX-License-Identifier: Apache-2.0
// The family on the CPU: elements in tiles. Random numbers, and the conversions from and to float32, are compiled once
// for all operators, the loop over an operator's noisy() with the operator; all of them for each processor target.
#pragma once
#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/target.h"
#include "families/field/kernels/twin.h"

namespace penstock::field {

constexpr int kTile = 512;  // elements: groups by twos, and so few that they stay in the first-level cache
template <class V> struct alignas(64) Tile {
  V of[kTile];
};

#define PENSTOCK_LOOPS rules
#define PENSTOCK_LOOPS_TEXT "families/field/rule.inc.h"
#include "base/foreach_target.h"

// The same element of the operator's numbers and of the random ones.
using NoisyLoop = void (*)(const void* coef, const float* in, const float* numbers, int n, float* out);
using MeanLoop = void (*)(const void* coef, const float* in, int n, float* out);

// A sample of a type that float32 holds.
struct Elements {
  DType dtype;
  const void* in;
  void* out;
  int64_t n;
};
void add_normals(Target target, const Elements& elements, const RandomStream& stream, const void* coef,
                 NoisyLoop noisy);
void add_counts(Target target, const Elements& elements, const RandomStream& stream, const void* coef, MeanLoop mean,
                NoisyLoop noisy);
// The words of a tile, which begins at `first`, a multiple of kTile; its normal numbers; the places in [begin, end) of
// it whose word is at most `last`, in order: returns their number.
void tile_words(Target target, const RandomStream& stream, int64_t first, Tile<uint32_t>& words);
void tile_normals(Target target, const Tile<uint32_t>& words, Tile<float>& numbers);
int tile_replaced(Target target, const Tile<uint32_t>& words, int begin, int end, uint32_t last, Tile<int32_t>& places);

}  // namespace penstock::field
