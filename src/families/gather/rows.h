// SPDX-License-Identifier: Apache-2.0
// The family on the CPU: rows of outputs in blocks. The loop over an operator's at() is compiled with the operator, the
// samplers once for all of them; both for each processor target.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

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
  int32_t downward = 1;  // -1: rows of outputs that follow each other move up in the picture
};

// Rules whose positions need a random number: `drawn_at(y, x, drawn, coef)`, where `drawn` is that with the number
// `number(image, y, x, coef)` of the stream coef.draws.
template <class Rule> constexpr bool kDraws = requires { &Rule::template drawn_at<float>; };
// One that gives pixels has `drawn_pixel` too.
// Rules whose positions are made of a number for each row and one for each column: `crossing(y, x, row(y, coef),
// column(x, coef))`. Those of columns are found once for all rows. One that gives pixels has `crossing_pixel` too.
template <class Rule> constexpr bool kHasColumns = requires { &Rule::template crossing<float>; };

// The random numbers of consecutive outputs. Four are made together, so there may be some before the first.
struct DrawnNumbers {
  int skipped = 0;
  alignas(64) uint32_t all[kBlock + 2 * kSpare];
  const uint32_t* first() const { return all + skipped; }
};
void draw_numbers(const RandomStream& stream, uint64_t first, int n, DrawnNumbers& to);

// Pixels by axis x, y, in rows of outputs.
struct PixelPlanes {
  std::vector<int16_t> axis[2];
};

// How an operator finds n <= kBlock positions, from output x of row y on.
struct PositionLoops {
  const void* coef;
  using Find = void(const PositionLoops&, int32_t image, int32_t y, int32_t x, int n, Positions<float>& to);
  using FindWide = void(const PositionLoops&, int32_t image, int32_t y, int32_t x, int n, Positions<double>& to);
  Find* nearest;  // no weights
  Find* narrow;
  FindWide* wide;
  std::shared_ptr<const void> columns = nullptr;        // float, or double for `wide`
  std::shared_ptr<const PixelPlanes> pixels = nullptr;  // those that `nearest` gives; null: they are not known yet
};

#define PENSTOCK_LOOPS positions
#define PENSTOCK_LOOPS_TEXT "families/gather/positions.inc.h"
#include "base/foreach_target.h"

// The outputs of one image.
struct Outputs {
  int32_t image;
  int32_t height, width;
};
template <class Rule, class V>
std::shared_ptr<const void> columns_of(const typename Rule::Coef& coef, Target target, int32_t width) {
  auto made = std::make_shared<std::vector<V>>(static_cast<size_t>(width));
  PENSTOCK_FOR_TARGET(target, positions, find_columns<Rule, V>(&coef, width, made->data()));
  return {made, made->data()};
}
// `width`: of the outputs.
template <class Rule>
PositionLoops position_loops(const typename Rule::Coef& coef, Target target, int32_t width, bool in_float64) {
  PositionLoops loops{&coef, PENSTOCK_FOR_TARGET(target, &positions, find<Rule, float, true>),
                      PENSTOCK_FOR_TARGET(target, &positions, find<Rule, float, false>),
                      PENSTOCK_FOR_TARGET(target, &positions, find<Rule, double, false>)};
  if constexpr (kHasColumns<Rule>)
    loops.columns =
        in_float64 ? columns_of<Rule, double>(coef, target, width) : columns_of<Rule, float>(coef, target, width);
  return loops;
}
// Whether the positions of a call are found in float64.
bool finds_in_float64(DType dtype, Filter filter);

// All outputs of an image. `in` is that image of the source, `out` that of the output.
void sample_image(Target target, DType dtype, const void* in, const Source& source, const PositionLoops& loops,
                  const Outputs& outputs, void* out);

}  // namespace penstock::gather
