// SPDX-License-Identifier: Apache-2.0
#include "cpu/filter_rows.h"

#include <algorithm>
#include <cstdlib>

#include "base/intrinsics.h"
#include "pixel/math.h"

namespace penstock {

#define PENSTOCK_LOOPS rows
#define PENSTOCK_LOOPS_TEXT "cpu/filter_rows.inc.h"
#include "base/foreach_target.h"

const FilterRows& filter_rows(Target t) { return PENSTOCK_FOR_TARGET(t, rows, kRows); }

void plan_row(const int32_t* base, int64_t count, int step, const float* weight, int taps, int channels, int lanes,
              RowPlan& plan) {
  plan.lanes = lanes;
  plan.parts = 0;
  plan.held = plan.narrow = false;
  if (lanes == 0 || count == 0) return;
  const int64_t outputs = count * channels, groups = (outputs + lanes - 1) / lanes, padded = groups * lanes;
  const int32_t reach = (taps - 1) * std::abs(step) * channels;
  plan.index.resize(padded);  // for now the samples themselves; what pads the last group reads the last one
  int32_t* to = plan.index.data();
  for (int64_t o = 0; o < count; ++o)
    for (int c = 0; c < channels; ++c) *to++ = base[o] * channels + c;
  std::fill(to, plan.index.data() + padded, to[-1]);
  // The fewest parts whose outputs are all in two registers.
  for (int parts : {1, 2, 4}) {
    const int64_t n = lanes / parts;
    plan.base.resize(groups * parts);
    bool fits = true, held = parts == 1, narrow = held;
    for (int64_t p = 0; p < groups * parts && fits; ++p) {
      const auto [low, high] = std::minmax_element(&plan.index[p * n], &plan.index[p * n] + n);
      plan.base[p] = *low;
      fits = *high - *low < 2 * lanes;
      held &= *high - *low + reach < 2 * lanes;
      narrow &= *high - *low < lanes;
    }
    if (!fits) continue;
    plan.parts = parts;
    // AVX2 takes from two registers by three instructions, from one by one.
    if (narrow && lanes == 8) held = false;
    plan.held = held, plan.narrow = narrow && !held;
    if (held && step < 0)
      for (int32_t& b : plan.base) b -= reach;
    for (int64_t p = 0; p < groups * parts; ++p)
      for (int64_t i = p * n; i < (p + 1) * n; ++i) plan.index[i] -= plan.base[p];
    plan.weight.resize(padded * taps);
    int64_t o = 0;
    int c = 0;
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        float* const w = &plan.weight[g * taps * lanes + lane];
        for (int k = 0; k < taps; ++k) w[k * lanes] = weight[o * taps + k];
        if (++c == channels) c = 0, o = std::min(o + 1, count - 1);
      }
    return;
  }
}

}  // namespace penstock
