// SPDX-License-Identifier: Apache-2.0
// What can be seen of a step of the plan after it has run (exec/stepping.h).
#pragma once
#include <functional>

#include "exec/iteration.h"

namespace penstock {

struct SteppedStep {
  const Step& step;
  const Node& node;            // of the plan; of several that are fused, the last one
  std::vector<Batch> outputs;  // of that node; a read or a copy: what it made
  std::vector<int> samples;    // places in the source's batch of the samples that it gave; of a begin: that enter
};
// On the thread that waits for the batch. What it throws, that call throws; the next one goes on after the step.
using AfterStep = std::function<void(const SteppedStep&)>;

SteppedStep stepped_step(const Plan& plan, const Iteration& it, size_t step);

}  // namespace penstock
