// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/stage_growth.h"
#include "operator/pixel_source.h"

namespace penstock {
namespace {

struct GrowingStage {
  size_t step;  // in `steps`
  StageGrowth growth;
};
using Growing = std::map<ValueRef, GrowingStage>;  // by the last value of the stage

// The stages whose results `n` reads and that it merges with, first one first.
std::vector<Growing::iterator> joined_stages(const Planning& p, const std::vector<Step>& steps, Growing& growing,
                                             const Node& n, const StageTraits& t) {
  std::vector<Growing::iterator> joined;
  std::set<ValueRef> inputs(n.inputs.begin(), n.inputs.end());
  for (size_t k = 0; k < n.inputs.size(); ++k) {
    const auto before = growing.find(n.inputs[k]);
    if (before == growing.end() || !before->second.growth.may_take(p, n, t, p.decoder[n.id] >= 0, k)) continue;
    const auto& of_stage = steps[before->second.step].inputs;
    std::set<ValueRef> all = inputs;
    all.erase(n.inputs[k]);
    all.insert(of_stage.begin(), of_stage.end());
    if (joined.empty() ? all.size() > static_cast<size_t>(kMaxStageInputs)
                       : !joined.front()->second.growth.may_join(before->second.growth, all.size()))
      continue;
    inputs = std::move(all);
    joined.push_back(before);
  }
  return joined;
}

Step step_of(const Node& n, Step::Kind kind) {
  Step s;
  s.kind = kind;
  s.nodes = {n.id};
  if (!mixes(n)) s.inputs = n.inputs;
  s.gpu = kind != Step::Kind::control && n.device == "gpu";
  if (kind == Step::Kind::stage || s.gpu) s.output = {n.id, 0};
  return s;
}

// What becomes of a node whose operator is of another family, alone in its step.
Step::Kind kind_alone(const Planning& p, const Node& n) {
  if (calls_back(n)) return Step::Kind::call;
  if (info_of(n).family == Family::source) return Step::Kind::source;
  if (p.runs_on_gpu(n.id) && !info_of(n).decodes_to_device) return Step::Kind::stage;
  return Step::Kind::whole;
}

// Moves the stages that `n` joins, and `n`, into one step at the end of `steps`.
void merge(const Planning& p, std::vector<Step>& steps, Growing& growing, const std::vector<Growing::iterator>& joined,
           const Node& n, const StageTraits& t) {
  GrowingStage s = joined.front()->second;
  Step moved = std::move(steps[s.step]);
  moved.kind = Step::Kind::stage;  // of frames whose pixels only this stage reads
  steps[s.step].nodes.clear();     // its place is at its last node
  for (size_t k = 1; k < joined.size(); ++k) {
    Step& other = steps[joined[k]->second.step];
    moved.nodes.insert(moved.nodes.end(), other.nodes.begin(), other.nodes.end());
    moved.inputs.insert(moved.inputs.end(), other.inputs.begin(), other.inputs.end());
    other.nodes.clear();
    s.growth.join(joined[k]->second.growth);
  }
  std::sort(moved.nodes.begin(), moved.nodes.end());
  moved.nodes.push_back(n.id);
  for (const ValueRef& v : n.inputs)
    if (std::none_of(joined.begin(), joined.end(), [&](const auto& j) { return j->first == v; }))
      moved.inputs.push_back(v);
  std::vector<ValueRef> inputs;  // without duplicates
  for (const ValueRef& v : moved.inputs)
    if (std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
  moved.inputs = std::move(inputs);
  for (const auto& j : joined) growing.erase(j);
  const ValueRef result{n.id, 0};
  moved.output = result;
  s.step = steps.size();
  s.growth.take(p, n, t);
  steps.push_back(std::move(moved));
  growing.emplace(result, s);
}

// Adds a node of the stage families.
void add_stage_node(const Planning& p, std::vector<Step>& steps, Growing& growing, const Node& n) {
  const StageTraits t = stage_traits(p.graph, n);
  const ValueRef result{n.id, 0};
  if (t.decodes && p.runs_on_gpu(n.id)) {
    steps.push_back(step_of(n, Step::Kind::decode));
    if (!t.maps) return;
    const ValueRef pixels{n.id, 0, Place::pixels};  // the decoder's window starts the next stage
    steps.back().output = pixels;
    growing.emplace(result, GrowingStage{steps.size(), StageGrowth(p, n, t)});
    steps.push_back(step_of(n, Step::Kind::stage));
    steps.back().inputs = {pixels};
  } else if (const auto joined = joined_stages(p, steps, growing, n, t); !joined.empty()) {
    merge(p, steps, growing, joined, n, t);
  } else {
    growing.emplace(result, GrowingStage{steps.size(), StageGrowth(p, n, t)});
    steps.push_back(step_of(n, Step::Kind::stage));
  }
}

// A node of another family: alone, or the source of a stage that reads its result pixel by pixel.
void add_other_node(const Planning& p, std::vector<Step>& steps, Growing& growing, const Node& n) {
  if (info_of(n).family == Family::whole && n.inputs.size() == 1)
    if (const auto op = bound_early(p.graph, n); pixel_source(*op))
      growing.emplace(ValueRef{n.id, 0}, GrowingStage{steps.size(), StageGrowth(p, n, op->traits())});
  steps.push_back(step_of(n, kind_alone(p, n)));
}

}  // namespace

void group(Planning& p) {
  std::vector<Step> steps;  // in order of their last node; empty where a stage has moved on
  Growing growing;
  for (const auto& n : p.graph.nodes()) {
    if (!p.needed[n.id] || n.control == Control::argument || n.control == Control::trip) continue;
    if (n.control != Control::none) steps.push_back(step_of(n, Step::Kind::control));
    else if (info_of(n).family == Family::stage) add_stage_node(p, steps, growing, n);
    else add_other_node(p, steps, growing, n);
  }
  for (auto& s : steps)
    if (!s.nodes.empty()) p.plan.steps.push_back(std::move(s));
}

}  // namespace penstock
