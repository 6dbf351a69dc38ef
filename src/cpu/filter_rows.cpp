// SPDX-License-Identifier: Apache-2.0
#include "cpu/filter_rows.h"

#include <algorithm>

#include "base/intrinsics.h"
#include "pixel/math.h"

namespace penstock {

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "cpu/filter_rows.inc.h"
#include "base/foreach_target.h"

const FilterRows& filter_rows(Target t) { return PENSTOCK_FOR_TARGET(t, rows, kRows); }

void plan_row(const int32_t* base, int64_t count, int step, const float* weight, int taps, int lanes, RowPlan& plan) {
  plan.lanes = lanes;
  plan.parts = 0;
  if (lanes == 0 || count == 0) return;
  const int64_t groups = (count + lanes - 1) / lanes, padded = groups * lanes;
  auto at = [&](int64_t o) { return base[std::min(o, count - 1)]; };
  // The fewest parts whose outputs all lie in two registers.
  for (int parts : {1, 2, 4}) {
    const int64_t n = lanes / parts;
    plan.base.resize(groups * parts);
    bool fits = true, held = parts == 1;
    for (int64_t p = 0; p < groups * parts && fits; ++p) {
      int32_t low = at(p * n), high = low;
      for (int64_t o = p * n + 1; o < (p + 1) * n; ++o) low = std::min(low, at(o)), high = std::max(high, at(o));
      plan.base[p] = low;
      fits = high - low < 2 * lanes;
      held &= high - low + taps - 1 < 2 * lanes;
    }
    if (!fits) continue;
    plan.parts = parts;
    plan.held = held;
    if (held && step < 0)
      for (int32_t& b : plan.base) b -= taps - 1;
    plan.index.resize(padded);
    for (int64_t o = 0; o < padded; ++o) plan.index[o] = at(o) - plan.base[o / n];
    plan.weight.resize(padded * taps);
    for (int64_t o = 0; o < padded; ++o)
      for (int k = 0; k < taps; ++k)
        plan.weight[(o / lanes * taps + k) * lanes + o % lanes] = weight[std::min(o, count - 1) * taps + k];
    return;
  }
}

}  // namespace penstock
