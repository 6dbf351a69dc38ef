// SPDX-License-Identifier: Apache-2.0
// A transform as a kernel reads it: a FourierPlan, its stages, then the factors of all stages, float32.
#pragma once
#include <cstdint>

namespace penstock {

struct FourierStage {
  int64_t radix, groups, span;
  int64_t twiddles, roots;  // their places among the factors
};
struct FourierPlan {
  int64_t length, points, stages;  // `points`: elements of the complex transform
  int64_t half_turns;              // their place among the factors
};
static_assert(sizeof(FourierStage) == 40 && sizeof(FourierPlan) == 32);

}  // namespace penstock
