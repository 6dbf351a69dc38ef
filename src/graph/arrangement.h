// SPDX-License-Identifier: Apache-2.0
// Queries about steps of control flow.
#pragma once
#include "graph/passes.h"

namespace penstock {

// The values that step i reads. A part of control flow reads those values of its node that it uses.
template <class F> void for_each_read(const Plan& plan, size_t i, F&& f) {
  const Step& s = plan.steps[i];
  if (s.kind != Step::Kind::control) {
    for (const auto& v : s.inputs) f(v);
    for (int id : s.nodes)
      for (const auto& [name, v] : plan.graph.node(id).per_sample) f(v);
    return;
  }
  const Node& n = plan.graph.node(s.nodes[0]);
  const auto results = [&](size_t from, size_t to) {
    for (size_t k = from; k < to; ++k)
      if (n.results[k].node >= 0) f(n.results[k]);
  };
  switch (s.flow) {
    case Step::Flow::begin_branch:
    case Step::Flow::begin_loop:
    case Step::Flow::change:
      for (const auto& v : n.inputs) f(v);
      break;
    case Step::Flow::begin_else: results(0, n.results.size() / 2); break;
    case Step::Flow::end_branch: results(n.results.size() / 2, n.results.size()); break;
    case Step::Flow::test_loop:  // samples that leave the loop take them along
      f(n.test);
      for (int argument : n.arguments) f(ValueRef{argument, 0});
      break;
    case Step::Flow::repeat_loop: results(0, n.results.size()); break;
    default: break;
  }
}

// The step that ends the body: for a loop's inner body, the end of each trip.
int end_of_region(const Plan& plan, int region);

}  // namespace penstock
