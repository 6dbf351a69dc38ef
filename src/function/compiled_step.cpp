// SPDX-License-Identifier: Apache-2.0
#include "function/compiled_step.h"

#include <utility>

#include "graph/batch_operators.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const Node& n, const std::string& why) {
  Error e(ErrorKind::argument, why);
  e.op = n.op.empty() ? "function" : n.op;
  e.user_line = n.user_line;
  throw e;
}

void check_step(const Plan& plan, const Step& s) {
  const Node& n = plan.graph.node(s.nodes[0]);
  switch (s.kind) {
    case Step::Kind::source:
      if (info_of(n).fed == Fed::batches) return;
      refuse(n,
             "reads data, but a function gets its data with each call: put fn.external_source(name=...) in its place");
    case Step::Kind::read: refuse(n, "reads files, but a function gets their bytes with each call");
    case Step::Kind::call:
      refuse(n, "calls a function of the program, which a compiled function cannot do: call it before or after");
    case Step::Kind::control:
      if (s.flow == Step::Flow::change)
        refuse(n, "changes the number of samples, but a function gives a result for each of its samples");
      return;
    default: return;
  }
}

// A branch or a loop: all values that it reads and sets.
void add_control(const Node& n, CompiledPlan& c, const auto& slot) {
  c.has_control = true;
  for (const ValueRef& v : n.inputs) slot(v);
  for (const ValueRef& v : n.results)
    if (v.node >= 0) slot(v);
  for (int k = 0; k < n.outputs; ++k) slot({n.id, k});
  for (int argument : n.arguments) slot({argument, 0});
  if (n.trips >= 0) slot({n.trips, 0});
  if (n.test.node >= 0) slot(n.test);
}

}  // namespace

CompiledPlan compiled_plan(const Plan& plan) {
  CompiledPlan c;
  const auto slot = [&](ValueRef v) { return c.slots.try_emplace(v, static_cast<int>(c.slots.size())).first->second; };
  for (const Step& s : plan.steps) {
    check_step(plan, s);
    c.uses_gpu |= s.gpu || s.kind == Step::Kind::transfer;
    CompiledStep step;
    step.step = &s;
    for (const ValueRef& v : s.inputs) step.inputs.push_back(slot(v));
    const Node& first = plan.graph.node(s.nodes[0]);
    if (s.kind == Step::Kind::control) {
      add_control(first, c, slot);
      c.steps.push_back(std::move(step));
      continue;
    }
    if (s.kind == Step::Kind::whole || s.kind == Step::Kind::source) {
      for (int k = 0; k < first.outputs; ++k) step.outputs.push_back(slot({first.id, k}));
    } else {
      step.outputs.push_back(slot(s.output));
    }
    for (int id : s.nodes) {
      const Node& n = plan.graph.node(id);
      for (const auto& [name, v] : n.per_sample) slot(v);
      step.constant &= n.per_sample.empty();
      if (s.kind == Step::Kind::stage && gives_size(n)) step.sizes.push_back({id, n.outputs - 1});
    }
    for (const ValueRef& v : step.sizes) step.outputs.push_back(slot(v));
    if (s.kind == Step::Kind::stage && info_of(first).family == Family::whole)  // on a GPU
      for (int k = 1; k < first.outputs; ++k) step.outputs.push_back(slot({first.id, k}));
    c.steps.push_back(std::move(step));
  }
  for (const ValueRef& v : plan.graph.outputs()) c.outputs.push_back(slot(v));
  for (const Step& s : plan.steps)
    for (int id : s.nodes)
      if (const Node& n = plan.graph.node(id); c.has_control && mixes_samples(n.op))
        refuse(
            n,
            "works on all samples together, but a function with an `if` or a loop computes one sample after another: "
            "compile the part without them");
  return c;
}

}  // namespace penstock
