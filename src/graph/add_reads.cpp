// SPDX-License-Identifier: Apache-2.0
#include "graph/passes.h"

namespace penstock {

void add_reads(Planning& p) {
  const auto names_files = [&](ValueRef v) { return v.output == 0 && info_of(p.graph.node(v.node)).lazy_files; };
  std::set<ValueRef> wanted;
  for (const auto& o : p.outputs)
    if (names_files(o)) wanted.insert(o);
  for (auto& s : p.plan.steps)
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      if (!names_files(s.inputs[k])) continue;
      if ((s.kind == Step::Kind::stage || s.kind == Step::Kind::decode) && k == 0 && p.read_once(s.inputs[k]))
        s.lazy_source = true;
      else
        wanted.insert(s.inputs[k]);
    }
  std::vector<Step> steps;
  for (auto& s : p.plan.steps) {
    steps.push_back(std::move(s));
    const ValueRef bytes{steps.back().nodes[0], 0};
    if (steps.back().kind != Step::Kind::source || !wanted.count(bytes)) continue;
    Step read;
    read.kind = Step::Kind::read;
    read.nodes = {bytes.node};
    read.output = bytes;
    steps.push_back(std::move(read));
  }
  p.plan.steps = std::move(steps);
}

}  // namespace penstock
