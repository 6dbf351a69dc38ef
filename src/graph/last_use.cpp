// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

namespace penstock {

void find_last_uses(Planning& p) {
  std::map<ValueRef, int> last;
  for (size_t i = 0; i < p.plan.steps.size(); ++i) {
    const Step& s = p.plan.steps[i];
    for (const auto& in : s.inputs) last[in] = static_cast<int>(i);
    for (int id : s.nodes)
      for (const auto& [name, in] : p.graph.node(id).per_sample) last[in] = static_cast<int>(i);
  }
  for (const auto& [v, step] : last)
    if (!p.outputs.count(v)) p.plan.value_last_use.emplace_back(v, step);
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
