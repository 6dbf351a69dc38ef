// SPDX-License-Identifier: Apache-2.0
// What a kernel finds wrong with its sample: on the host it becomes a sentence.
#pragma once
#include <cstdint>

namespace penstock {

struct Refusal {
  int64_t what = 0;  // which sentence; 0: nothing is wrong
  int64_t whole[4] = {};
  float real[6] = {};
};
static_assert(sizeof(Refusal) == 64);

}  // namespace penstock
