// SPDX-License-Identifier: Apache-2.0
// Samples that leave an iteration, wherever it stands: in bodies of control flow, and after filter and its kind.
#pragma once
#include "exec/iteration.h"

namespace penstock {

// gone: samples of the current step, in order. They leave the values of the step's domain, of what was made of it, and
// of all bodies around that part its samples.
void drop_samples(const Plan& plan, Iteration& it, std::vector<int> gone);

}  // namespace penstock
