// SPDX-License-Identifier: Apache-2.0
#include "exec/stepped_step.h"

#include <numeric>

#include "exec/steps/frames.h"

namespace penstock {
namespace {

bool begins_body(const Step& s) {
  if (s.kind != Step::Kind::control) return false;
  using Flow = Step::Flow;
  return s.flow == Flow::begin_branch || s.flow == Flow::begin_else || s.flow == Flow::begin_loop ||
         s.flow == Flow::test_loop || s.flow == Flow::repeat_loop;
}

std::vector<int> upto(int count) {
  std::vector<int> numbers(static_cast<size_t>(std::max(0, count)));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// An empty body is skipped without being entered: the iteration still has the samples around it.
std::vector<int> places_of(const Plan& plan, const Iteration& it, const Step& s) {
  if (begins_body(s) && !it.frames.empty() && it.frames.back().inside.empty()) return {};
  const bool changes = s.kind == Step::Kind::control && s.flow == Step::Flow::change;
  const auto made = changes ? it.sets.find(plan.graph.node(s.nodes.back()).domain) : it.sets.end();
  std::vector<int> places = made == it.sets.end() ? upto(it.size) : made->second.from;
  for (int& p : places) p = given_sample(plan, it, p);
  return places;
}

std::vector<Batch> outputs_of(const Plan& plan, const Iteration& it, const Step& s) {
  std::vector<Batch> outputs;
  const auto add = [&](ValueRef v) {
    const auto found = it.values.find(v);
    outputs.push_back(found == it.values.end() ? Batch() : found->second);
  };
  const bool brings = s.kind == Step::Kind::transfer || s.kind == Step::Kind::read;
  if (brings) add(s.output);
  else if (!begins_body(s))
    for (int k = 0; k < plan.graph.node(s.nodes.back()).outputs; ++k) add({s.nodes.back(), k});
  return outputs;
}

}  // namespace

SteppedStep stepped_step(const Plan& plan, const Iteration& it, size_t step) {
  const Step& s = plan.steps[step];
  return {s, plan.graph.node(s.nodes.back()), outputs_of(plan, it, s), places_of(plan, it, s)};
}

}  // namespace penstock
