// SPDX-License-Identifier: Apache-2.0
// The family on the CPU: rows of outputs in blocks. The loop over an operator's at() is compiled with the operator, the
// samplers once for all of them; both for each processor target.
#pragma once
#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/target.h"
#include "families/gather/kernels/twin.h"

namespace penstock::gather {

constexpr int kBlock = 256;  // outputs: their positions stay in the first-level cache
constexpr int kSpare = 16;   // a vector may end after a block

// By axis x, y.
template <class V> struct Positions {
  alignas(64) int32_t at[2][kBlock + kSpare];
  alignas(64) V weight[2][kBlock + kSpare];
};

#define PENSTOCK_LOOPS positions
#define PENSTOCK_LOOPS_TEXT "families/gather/positions.inc.h"
#include "base/foreach_target.h"

// The outputs of one image.
struct Outputs {
  int32_t image;
  int32_t height, width;
};
// How an operator finds n <= kBlock positions, from output x of row y on.
struct PositionLoops {
  const void* coef;
  void (*nearest)(const void* coef, int32_t image, int32_t y, int32_t x, int n, Positions<float>& to);  // no weights
  void (*narrow)(const void* coef, int32_t image, int32_t y, int32_t x, int n, Positions<float>& to);
  void (*wide)(const void* coef, int32_t image, int32_t y, int32_t x, int n, Positions<double>& to);
};
template <class Rule> PositionLoops position_loops(const typename Rule::Coef& coef, Target target) {
  return {&coef, PENSTOCK_FOR_TARGET(target, &positions, find<Rule, float, true>),
          PENSTOCK_FOR_TARGET(target, &positions, find<Rule, float, false>),
          PENSTOCK_FOR_TARGET(target, &positions, find<Rule, double, false>)};
}

// All outputs of an image. `in` is that image of the source, `out` that of the output.
void sample_image(Target target, DType dtype, const void* in, const Source& source, const PositionLoops& loops,
                  const Outputs& outputs, void* out);

}  // namespace penstock::gather
