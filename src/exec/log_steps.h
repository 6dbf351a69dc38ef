// SPDX-License-Identifier: Apache-2.0
// Writes into an iteration's log what its steps did with random numbers.
#pragma once
#include "exec/steps/step_runner.h"

namespace penstock {

// Before the step: what its operators draw. Operators that draw by themselves have an entry too, without numbers: a
// reader of the log sees that they were there.
void log_step(const StepContext& c, Iteration& it, const StepRunner& runner);
// After the step: which size each operator read, where the graph has it as an output (Graph::give_sizes).
void log_sizes(const StepContext& c, Iteration& it, const Step& s);

}  // namespace penstock
