// SPDX-License-Identifier: Apache-2.0
// Conversions between memory of any element type and the registers of a tile. They are chosen by pointer, so that
// operators are not templates over dtypes.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// planes[p][i] = element at base + i * step + p * plane_step (in elements), converted to the lane.
using LoadFn = void (*)(const void* base, int64_t step, int64_t plane_step, void* const* planes, int n_planes,
                        int64_t n);
// The same with a table: element at base + index[i] * step + p * plane_step.
using LoadIndexedFn = void (*)(const void* base, const int32_t* index, int64_t step, int64_t plane_step,
                               void* const* planes, int n_planes, int64_t n);
// Rounds half to even and saturates to the element type; to float16 by IEEE rules. past_caches: see ChainFn.
using StoreFn = void (*)(const void* const* planes, int n_planes, int64_t n, void* base, int64_t step,
                         int64_t plane_step, bool past_caches);
// In place: the value that the element type would hold, still in the compute type.
using RoundFn = void (*)(void* plane, int64_t n);
// From one compute type to another, as storing and loading would.
using LaneFn = void (*)(const void* from, void* to, int64_t n);
// v becomes fma(v, a, b). If `rounds` is set, it becomes the nearest integer (half to even) from a to b, and NaN
// becomes a.
struct ChainStep {
  float a = 0, b = 0;
  bool rounds = false;
};
// out = in after all steps in turn; out may be in. past_caches: the output is too large to be read again soon, so that
// it is written without loading its cache lines first.
using ChainFn = void (*)(const float* in, float* out, int64_t n, const ChainStep* steps, int count, bool past_caches);
// The same from uint16 to uint16, which rounds as StoreFn does: the numbers between stay in registers.
using ChainWordsFn = void (*)(const uint16_t* in, uint16_t* out, int64_t n, const ChainStep* steps, int count,
                              bool past_caches);
// n pixels of three bytes through a matrix (BoundOp::color_matrix), rounded as StoreFn does.
using TurnColorsFn = void (*)(const uint8_t* in, uint8_t* out, int64_t n, const float* matrix);
// The same of three float32. past_caches: see ChainFn.
using TurnFloatColorsFn = void (*)(const float* in, float* out, int64_t n, const float* matrix, bool past_caches);
// out[i] = table[in[i]], 256 entries.
using LookupFn = void (*)(const uint8_t* in, int64_t n, const void* table, void* out);

struct Conversions {
  LoadFn load[kTypes][kLanes];
  LoadIndexedFn load_indexed[kTypes][kLanes];
  StoreFn store[kTypes][kLanes];
  RoundFn round[kTypes][kLanes];  // nullptr if every value of the compute type fits
  LaneFn lane[kLanes][kLanes];
  ChainFn chain;
  ChainWordsFn chain_words;
  TurnColorsFn turn_colors;
  TurnFloatColorsFn turn_float_colors;
  LookupFn lookup[9];  // by size of the table's elements: 1, 2, 4, 8
};
const Conversions& conversions(Target t);

}  // namespace penstock
