// SPDX-License-Identifier: Apache-2.0
// An iteration of some of the samples that sources have given, before they are loaded.
#pragma once
#include <span>

#include "exec/step_context.h"

namespace penstock {

void split_iteration(const StepContext& context, const Iteration& from, std::span<const int> places, Iteration& into);

}  // namespace penstock
