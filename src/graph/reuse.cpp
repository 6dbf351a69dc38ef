// SPDX-License-Identifier: Apache-2.0
// x[...] = v gives a new value, and so does another shape. If the old value is not read again, both may use the same
// memory. This pass finds where the graph permits that; whether somebody else holds the memory is checked when the step
// runs (batch/memory_reuse.h).
#include <algorithm>

#include "graph/arrangement.h"

namespace penstock {
namespace {

using Flow = Step::Flow;

// Whether nobody reads the value after a step of `region`, for the samples of the step.
bool dies(const Planning& p, ValueRef v, int region, size_t step) {
  if (p.outputs.count(v) || names_files(p.graph, v)) return false;
  const int home = p.graph.node(v.node).region;
  std::vector<int> others;  // bodies that run on other samples
  for (; region != home; region = p.graph.regions()[region].parent) {
    const Node& owner = p.graph.node(p.graph.regions()[region].owner);
    if (owner.control == Control::loop && region == owner.bodies[0]) return false;  // the next trip reads it
    if (owner.control == Control::branch && region == owner.bodies[0]) others.push_back(owner.bodies[1]);
  }
  for (size_t i = step + 1; i < p.plan.steps.size(); ++i) {
    const int reads_in = p.plan.region_of(p.plan.steps[i]);
    if (std::any_of(others.begin(), others.end(), [&](int other) { return p.graph.within(reads_in, other); })) continue;
    bool read = false;
    for_each_read(p.plan, i, [&](ValueRef w) { read |= w == v; });
    if (read) return false;
  }
  return true;
}

// A step that reads it twice would see what it writes.
bool read_once(const Planning& p, size_t step, ValueRef v) {
  int count = 0;
  for_each_read(p.plan, step, [&](ValueRef w) { count += w == v; });
  return count == 1;
}

}  // namespace

void find_reuse(Planning& p) {
  auto& steps = p.plan.steps;
  std::vector<size_t> reusing;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step& s = steps[i];
    if ((s.kind != Step::Kind::whole && s.kind != Step::Kind::stage) || s.nodes.size() != 1 || s.inputs.empty())
      continue;
    const Node& n = p.graph.node(s.nodes[0]);
    s.assigns = info_of(n).in_place;
    if (!p.options.fuse) continue;  // the unfused twin copies
    s.reuses = s.assigns && read_once(p, i, s.inputs[0]) && dies(p, s.inputs[0], n.region, i);
    if (s.reuses) reusing.push_back(i);
  }
  const auto reuses_between = [&](size_t begin, int end) {
    const auto at = std::upper_bound(reusing.begin(), reusing.end(), begin);
    return at != reusing.end() && *at < static_cast<size_t>(end);
  };
  for (size_t i = 0; i < steps.size() && !reusing.empty(); ++i) {
    Step& s = steps[i];
    if (s.kind != Step::Kind::control) continue;
    const Node& n = p.graph.node(s.nodes[0]);
    const auto give = [&](const std::vector<ValueRef>& values, size_t end) {
      for (const ValueRef& v : values) {
        const bool outside = v.node >= 0 && p.graph.within(n.region, p.graph.node(v.node).region);
        if (outside && dies(p, v, n.region, end)) s.given.push_back(v);
      }
    };
    switch (s.flow) {
      case Flow::begin_branch:
      case Flow::begin_else:
        if (reuses_between(i, s.target)) give(s.captured, static_cast<size_t>(end_of_region(p.plan, n.bodies[0])));
        break;
      case Flow::end_branch: give(n.results, i); break;
      case Flow::begin_loop:
        s.parts = reuses_between(i, s.target);
        give(n.inputs, i);
        std::erase_if(s.given, [&](ValueRef v) { return !read_once(p, i, v); });
        break;
      default: break;
    }
  }
}

}  // namespace penstock
