// SPDX-License-Identifier: Apache-2.0
// Tells the statistics what a thread did for an iteration.
#pragma once
#include "exec/step_context.h"
#include "exec/steps/step_runner.h"

namespace penstock {

// For samples of the current step from `first` on; -1: for the step as a whole.
void count_work(const StepContext& c, const Iteration& it, int first, StepWork work);
// The step is done for the iteration.
void count_batch(const StepContext& c, const Iteration& it, const StepRunner& step, int thread);

}  // namespace penstock
