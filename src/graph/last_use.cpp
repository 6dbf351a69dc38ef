// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/arrangement.h"

namespace penstock {
namespace {

// A value from outside a body is needed until the whole control-flow node is done: for every trip and every branch.
int end_of_use(const Planning& p, ValueRef v, int step) {
  const int home = p.graph.node(v.node).region;
  int region = p.plan.region_of(p.plan.steps[step]);
  if (p.graph.within(home, region)) return step;
  while (p.graph.regions()[region].parent != home) region = p.graph.regions()[region].parent;
  return end_of_region(p.plan, region);
}

}  // namespace

void find_last_uses(Planning& p) {
  std::map<ValueRef, int> last;
  for (size_t i = 0; i < p.plan.steps.size(); ++i) {
    for_each_read(p.plan, i, [&](ValueRef v) { last[v] = std::max(last[v], end_of_use(p, v, static_cast<int>(i))); });
  }
  const auto is_of_loop = [&](ValueRef v) {  // set in each trip, freed after the last one
    const Control c = p.graph.node(v.node).control;
    return c == Control::argument || c == Control::trip;
  };
  for (const auto& [v, step] : last)
    if (!is_of_loop(v) && !p.outputs.count(v)) p.plan.value_last_use.emplace_back(v, step);
}

std::string last_uses_text(const Planning& p) {
  std::string s;
  for (size_t i = 0; i < p.plan.steps.size(); ++i) {
    s += p.plan.step_text(i);
    std::string freed;
    for (const auto& [v, step] : p.plan.value_last_use)
      if (step == static_cast<int>(i)) freed += (freed.empty() ? "; frees " : ", ") + p.graph.value_text(v);
    s += freed + "\n";
  }
  return s;
}

}  // namespace penstock
