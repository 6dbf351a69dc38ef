// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/passes.h"

namespace penstock {

void add_transfers(Planning& p) {
  std::vector<Step> steps;
  std::set<ValueRef> there;
  const auto want = [&](ValueRef v) {
    if ((v.place != Place::cpu && v.place != Place::gpu) || !there.insert(v).second) return;
    Step t;
    t.kind = Step::Kind::transfer;
    t.nodes = {v.node};
    t.inputs = {{v.node, v.output}};
    t.output = v;
    t.gpu = v.place == Place::gpu;
    steps.push_back(std::move(t));
  };
  for (auto& s : p.plan.steps) {
    for (const auto& v : s.inputs) want(v);
    for (int id : s.nodes)
      for (const auto& [name, v] : p.graph.node(id).per_sample) want(v);
    steps.push_back(std::move(s));
  }
  for (const auto& v : p.graph.outputs()) want(v);
  std::set<ValueRef> stays;  // read by something that is no transfer
  for (const auto& s : steps) {
    if (s.kind != Step::Kind::transfer) stays.insert(s.inputs.begin(), s.inputs.end());
    for (int id : s.nodes)
      for (const auto& [name, v] : p.graph.node(id).per_sample) stays.insert(v);
  }
  std::set<ValueRef> pinned;
  for (auto& s : steps)
    s.pinned = s.kind == Step::Kind::stage && !s.gpu && there.count({s.output.node, s.output.output, Place::gpu}) &&
               !stays.count(s.output) && !p.outputs.count(s.output);
  for (const auto& s : steps)
    if (s.pinned) pinned.insert(s.output);
  for (auto& s : steps)
    if (s.kind == Step::Kind::transfer) s.pinned = pinned.count(s.inputs[0]) > 0;
  p.plan.steps = std::move(steps);
}

}  // namespace penstock
