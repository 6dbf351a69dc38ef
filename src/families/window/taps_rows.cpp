// SPDX-License-Identifier: Apache-2.0
#include "families/window/taps_rows.h"

#include <cstring>

#include "base/intrinsics.h"

namespace penstock::window {
namespace {

struct TapsCoef {
  const float* weights;
  int64_t width, height, x, y;  // as those of Taps
};

#define PENSTOCK_LOOPS taps_loops
#define PENSTOCK_LOOPS_TEXT "families/window/taps_loops.inc.h"
#include "base/foreach_target.h"

}  // namespace

void taps_rows(const View& in, const View& out, const Taps& w, const float* weights, Target target) {
  const TapsCoef coef{weights, w.width, w.height, w.x, w.y};
  const Window window{w.in, w.width, w.height, w.x, w.y, w.border};
  stencil_rows(PENSTOCK_FOR_TARGET(target, taps_loops, taps), &coef, in, out, window, target, w.out, w.fill);
}

}  // namespace penstock::window
