// SPDX-License-Identifier: Apache-2.0
#include "graph/arrangement.h"
#include "graph/stage_growth.h"

namespace penstock {

void add_reads(Planning& p) {
  // A step that drops samples needs only the names.
  const auto passes_names = [&](const Step& s, size_t k) {
    const Node& n = p.graph.node(s.nodes[0]);
    return s.kind == Step::Kind::control && (n.control == Control::filter || n.control == Control::expand) &&
           k >= deciding_inputs(n);
  };
  std::set<ValueRef> wanted;
  for (const auto& o : p.outputs)
    if (names_files(p.graph, o)) wanted.insert(o);
  for (auto& s : p.plan.steps)
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      if (!names_files(p.graph, s.inputs[k]) || passes_names(s, k)) continue;
      const bool decodes = s.kind == Step::Kind::decode ||
                           (s.kind == Step::Kind::stage && stage_decodes(p.graph, p.graph.node(s.nodes[0])));
      const bool apart = s.kind == Step::Kind::decode && p.options.reads_apart;
      if (decodes && !apart && k == 0 && p.read_once(s.inputs[k])) s.lazy_source = true;
      else wanted.insert(s.inputs[k]);
    }
  for (size_t i = 0; i < p.plan.steps.size(); ++i) {  // values that leave a body are bytes
    if (p.plan.steps[i].kind != Step::Kind::control || changes_samples(p.graph.node(p.plan.steps[i].nodes[0]).control))
      continue;
    for_each_read(p.plan, i, [&](ValueRef v) {
      if (names_files(p.graph, v)) wanted.insert(v);
    });
  }
  std::vector<Step> steps;
  for (auto& s : p.plan.steps) {
    steps.push_back(std::move(s));
    const int node = steps.back().nodes[0];
    const Step::Kind kind = steps.back().kind;
    if (kind != Step::Kind::source && kind != Step::Kind::control) continue;
    for (const ValueRef& bytes : wanted) {
      if (bytes.node != node) continue;
      Step read;
      read.kind = Step::Kind::read;
      read.nodes = {bytes.node};
      read.output = bytes;
      steps.push_back(std::move(read));
    }
  }
  p.plan.steps = std::move(steps);
}

}  // namespace penstock
