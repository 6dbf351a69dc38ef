// SPDX-License-Identifier: Apache-2.0
#include "exec/steps/step_runner.h"

#include <algorithm>
#include <utility>

namespace penstock {

StepRunner::StepRunner(StepContext& context, size_t index)
    : step(context.plan.steps[index]),
      node(context.plan.graph.node(step.nodes.front())),
      context_(context),
      index_(index) {}

const Node& StepRunner::blamed(const Error&) const { return context_.graph.node(step.nodes.front()); }

void StepRunner::add_error(Iteration& it, int sample, Error e) const {
  const Node& blame = blamed(e);
  if (e.op.empty()) e.op = blame.op;
  name_sample(context_, it, sample, e);
  e.user_line = blame.user_line;
  std::lock_guard lock(it.error_mutex);
  it.errors.push_back({sample, std::move(e)});
}

// The output of a stage of a whole operator is one of several.
bool StepRunner::makes_output(bool several) const {
  const auto& outputs = context_.plan.graph.outputs();
  return std::any_of(outputs.begin(), outputs.end(), [&](const ValueRef& v) {
    return v == step.output || (several && v.node == step.output.node && v.place == step.output.place);
  });
}

std::shared_ptr<void> StepRunner::output_memory(Iteration& it, size_t bytes) const {
  const bool pinned = step.pinned && !it.late;  // late samples are gathered in such memory
  return pinned ? allocate_shared(context_.gpu->pinned(), bytes, it.stream) : context_.outputs.take(it, bytes);
}

}  // namespace penstock
