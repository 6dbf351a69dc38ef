// SPDX-License-Identifier: Apache-2.0
#include "graph/stage_growth.h"
#include "ops/machine/device_decoder.h"

namespace penstock {
namespace {

struct GrowingStage {
  size_t step;  // in `steps`
  StageGrowth growth;
};

Step step_of(const Node& n, Step::Kind kind) {
  Step s;
  s.kind = kind;
  s.nodes = {n.id};
  if (!mixes(n)) s.inputs = n.inputs;
  s.gpu = kind != Step::Kind::control && n.device == "gpu";
  if (kind == Step::Kind::stage || s.gpu) s.output = {n.id, 0};
  return s;
}

}  // namespace

void group(Planning& p) {
  std::vector<Step> steps;                  // in order of their last node; empty where a stage has moved on from
  std::map<ValueRef, GrowingStage> growing;  // by the value that the stage ends in
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id]) continue;
    if (n.control != Control::none) {
      if (n.control != Control::argument && n.control != Control::trip) steps.push_back(step_of(n, Step::Kind::control));
      continue;
    }
    const Family family = info_of(n).family;
    if (family != Family::stage) {
      steps.push_back(step_of(n, calls_back(n)              ? Step::Kind::call
                                 : family == Family::source ? Step::Kind::source
                                 : p.runs_on_gpu(n.id) && !decodes_to_device(n.op) ? Step::Kind::stage  // of one node
                                                                                   : Step::Kind::whole));
      continue;
    }
    const StageTraits t = stage_traits(p.graph, n);
    const ValueRef result{n.id, 0};
    if (t.decodes && p.runs_on_gpu(n.id)) {
      steps.push_back(step_of(n, Step::Kind::decode));
      if (!t.maps) continue;
      const ValueRef pixels{n.id, 0, Place::pixels};  // the decoder's window opens the stage behind it
      steps.back().output = pixels;
      growing.emplace(result, GrowingStage{steps.size(), StageGrowth(p, n, t)});
      steps.push_back(step_of(n, Step::Kind::stage));
      steps.back().inputs = {pixels};
      continue;
    }
    const auto before = growing.find(n.inputs.at(0));
    if (before != growing.end() && before->second.growth.may_take(p, n, t, p.decoder[n.id] >= 0)) {
      GrowingStage s = before->second;
      growing.erase(before);
      Step moved = std::move(steps[s.step]);
      steps[s.step].nodes.clear();  // its place is where its last node stands
      moved.nodes.push_back(n.id);
      moved.inputs.insert(moved.inputs.end(), n.inputs.begin() + 1, n.inputs.end());
      moved.output = result;
      s.step = steps.size();
      s.growth.take(p, n, t);
      steps.push_back(std::move(moved));
      growing.emplace(result, s);
    } else {
      growing.emplace(result, GrowingStage{steps.size(), StageGrowth(p, n, t)});
      steps.push_back(step_of(n, Step::Kind::stage));
    }
  }
  for (auto& s : steps)
    if (!s.nodes.empty()) p.plan.steps.push_back(std::move(s));
}

}  // namespace penstock
