// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/arrangement.h"

namespace penstock {

// For whom a value is moved, and whether the user said so: by .cpu(), .gpu(), the reader's device, or as an output.
static void say_why(const Planning& p, ValueRef v, const Step* reader, Step& t) {
  if (!reader) {
    t.reason = "an output";
    return;
  }
  const Node* by = &p.graph.node(reader->nodes[0]);
  std::string argument;
  for (int id : reader->nodes) {
    const Node& n = p.graph.node(id);
    bool reads = false;
    for (const ValueRef& in : n.inputs) reads |= in == v;
    for (const auto& [name, in] : n.per_sample)
      if (in == v) reads = true, argument = name;
    if (reads) by = &n;
  }
  const std::string& device = p.devices[static_cast<size_t>(by->id)];
  const bool asked = p.asked.count(v) || (t.gpu ? device == "gpu" || device == "mixed" : device == "cpu");
  t.reason = fmt::format("for %{} {}", by->id, by->op);
  if (by->control != Control::none) t.reason += t.gpu ? "" : ", which decides on the host";
  else if (!argument.empty()) t.reason += fmt::format(", whose argument '{}' is read on the host", argument);
  else if (!t.gpu && !asked) t.reason += ", which runs on the CPU";
  const bool made_here = t.gpu && p.graph.node(v.node).on_gpu;  // by an operator of the GPU that has to run on the CPU
  if (made_here) t.reason += fmt::format("; {} runs on the CPU", p.graph.node(v.node).op);
  else if (asked) t.reason += ", as asked";
  else t.moved_for = by->id;
}

void add_transfers(Planning& p) {
  std::vector<Step> steps;
  std::set<ValueRef> there;
  std::map<int, size_t> begins;  // of open nodes of control flow: where they stand in `steps`, by region of the body
  // A value from outside of a body is copied once, in front of the node of control flow that it is outside of.
  const auto place_of = [&](ValueRef v, int region) {
    const int home = p.graph.node(v.node).region;
    if (p.graph.within(home, region)) return steps.size();
    while (p.graph.regions()[region].parent != home) region = p.graph.regions()[region].parent;
    return begins.at(region);
  };
  const auto want = [&](ValueRef v, int region, const Step* reader) {
    if ((v.place != Place::cpu && v.place != Place::gpu) || !there.insert(v).second) return;
    Step t;
    t.kind = Step::Kind::transfer;
    t.nodes = {v.node};
    t.inputs = {{v.node, v.output}};
    t.output = v;
    t.gpu = v.place == Place::gpu;
    say_why(p, v, reader, t);
    const size_t at = place_of(v, region);
    steps.insert(steps.begin() + static_cast<ptrdiff_t>(at), std::move(t));
    for (auto& [body, begin] : begins) begin += begin >= at;
  };
  for (size_t i = 0; i < p.plan.steps.size(); ++i) {
    Step& s = p.plan.steps[i];
    const int region = p.plan.region_of(s);
    for_each_read(p.plan, i, [&](ValueRef v) { want(v, region, &s); });
    if (s.kind == Step::Kind::control) {
      const std::vector<int>& bodies = p.graph.node(s.nodes[0]).bodies;
      // What a loop carries, and what its test makes, is copied for the body in each trip: in front of the decision.
      if (s.flow == Step::Flow::test_loop) begins[bodies[1]] = steps.size();
      else
        for (int body : bodies) begins.try_emplace(body, steps.size());
    }
    steps.push_back(s);
    if (s.kind == Step::Kind::control && s.flow == Step::Flow::begin_loop && p.graph.node(s.nodes[0]).counted)
      begins[p.graph.node(s.nodes[0]).bodies[1]] = steps.size();
  }
  for (const auto& v : p.graph.outputs()) want(v, 0, nullptr);
  std::set<ValueRef> stays;  // read by something that is no transfer
  for (const auto& s : steps) {
    if (s.kind == Step::Kind::transfer) continue;
    stays.insert(s.inputs.begin(), s.inputs.end());
    if (s.kind == Step::Kind::control) for_each_read(p.graph.node(s.nodes[0]), [&](ValueRef v) { stays.insert(v); });
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
