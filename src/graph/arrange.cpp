// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/arrangement.h"

namespace penstock {
namespace {

using Flow = Step::Flow;

struct Arranger {
  Planning& p;
  std::map<int, std::vector<Step>> steps;  // by region
  std::vector<Step> out;

  void part(const Step& control, Flow flow) {
    Step s = control;
    s.flow = flow;
    if (flow != Flow::begin_branch && flow != Flow::begin_loop) s.inputs.clear();
    out.push_back(std::move(s));
  }
  void emit(int region) {
    for (const Step& s : steps[region]) {
      const Node& n = p.graph.node(s.nodes[0]);
      if (s.kind != Step::Kind::control || n.control == Control::unset || changes_samples(n.control)) {
        out.push_back(s);
        if (s.kind == Step::Kind::control && changes_samples(n.control)) out.back().flow = Flow::change;
      } else if (n.control == Control::branch) {
        part(s, Flow::begin_branch);
        emit(n.bodies[0]);
        part(s, Flow::begin_else);
        emit(n.bodies[1]);
        part(s, Flow::end_branch);
      } else {
        part(s, Flow::begin_loop);
        emit(n.bodies[0]);
        if (n.test.node >= 0) part(s, Flow::test_loop);
        emit(n.bodies[1]);
        part(s, Flow::repeat_loop);
        part(s, Flow::end_loop);
      }
    }
  }
};

int step_of(const Plan& plan, int node, Flow flow) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].kind == Step::Kind::control && plan.steps[i].flow == flow && plan.steps[i].nodes[0] == node)
      return static_cast<int>(i);
  return -1;
}

}  // namespace

int Plan::region_of(const Step& s) const {
  const Node& n = graph.node(s.nodes[0]);
  if (s.kind != Step::Kind::control) return n.region;
  switch (s.flow) {
    case Flow::begin_else: return n.bodies[0];  // the node where it reads its results
    case Flow::end_branch: return n.bodies[1];
    case Flow::test_loop: return n.bodies[0];
    case Flow::repeat_loop: return n.bodies[1];
    default: return n.region;
  }
}

int end_of_region(const Plan& plan, int region) {
  const Node& n = plan.graph.node(plan.graph.regions()[region].owner);
  if (n.control == Control::branch) return step_of(plan, n.id, Flow::end_branch);
  return step_of(plan, n.id, region == n.bodies[1] ? Flow::repeat_loop : Flow::end_loop);
}

void arrange(Planning& p) {
  Arranger a{p, {}, {}};
  for (Step& s : p.plan.steps) {
    const int region = p.graph.node(s.nodes[0]).region;
    a.steps[region].push_back(std::move(s));
  }
  a.emit(0);
  p.plan.steps = std::move(a.out);
}

void find_captures(Planning& p) {
  auto& steps = p.plan.steps;
  // The values that the steps from `begin` to `end` read and that were not made in `region`.
  const auto captured = [&](int begin, int end, const auto& wanted) {
    std::set<ValueRef> found;
    for (int i = begin; i < end; ++i)
      for_each_read(p.plan, static_cast<size_t>(i), [&](ValueRef v) {
        if (wanted(p.graph.node(v.node).region)) found.insert(v);
      });
    return std::vector<ValueRef>(found.begin(), found.end());
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& s = steps[i];
    if (s.kind != Step::Kind::control) continue;
    const int node = s.nodes[0], here = static_cast<int>(i);
    const Node& n = p.graph.node(node);
    const auto from_outside = [&](int region) { return p.graph.within(n.region, region); };
    switch (s.flow) {
      case Flow::begin_branch:
        s.target = step_of(p.plan, node, Flow::begin_else);
        s.captured = captured(here + 1, s.target + 1, from_outside);
        break;
      case Flow::begin_else:
        s.target = step_of(p.plan, node, Flow::end_branch);
        s.captured = captured(here + 1, s.target + 1, from_outside);
        break;
      case Flow::begin_loop:
        s.target = step_of(p.plan, node, Flow::end_loop);
        s.captured = captured(here + 1, s.target, from_outside);
        break;
      case Flow::test_loop:
        s.target = step_of(p.plan, node, Flow::end_loop);
        s.captured = captured(here + 1, s.target, [&](int region) { return region == n.bodies[0]; });
        std::erase_if(s.captured, [&](ValueRef v) {
          const bool copy = v.place == Place::cpu || v.place == Place::gpu;
          if (copy)  // the test made it for the body, and the body does not exist yet
            return std::any_of(steps.begin() + here, steps.begin() + s.target,
                               [&](const Step& t) { return t.kind == Step::Kind::transfer && t.output == v; });
          const Control c = p.graph.node(v.node).control;
          return c == Control::argument || c == Control::trip;  // the executor handles them
        });
        break;
      case Flow::repeat_loop:
        s.target = step_of(p.plan, node, Flow::end_loop);
        s.repeat = step_of(p.plan, node, Flow::begin_loop) + 1;
        break;
      default: break;
    }
  }
}

}  // namespace penstock
