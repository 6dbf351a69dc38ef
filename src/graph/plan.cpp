// SPDX-License-Identifier: Apache-2.0
#include "graph/plan.h"

#include <cstdlib>
#include <cstring>

#include "graph/passes.h"

namespace penstock {

PlanOptions plan_options_from_environment() {
  PlanOptions o;
  const char* exec = std::getenv("PENSTOCK_EXEC");
  const char* push = std::getenv("PENSTOCK_PUSH_DOWN");
  if (exec && !std::strcmp(exec, "simple")) o.fuse = o.push_down = false;
  if (push && !std::strcmp(push, "0")) o.push_down = false;
  return o;
}

Planning::Planning(const Graph& g, const PlanOptions& o)
    : graph(g), options(o), outputs(g.outputs().begin(), g.outputs().end()) {
  plan.options = o;
}

bool Planning::read_once(ValueRef v) const {
  const auto r = readers.find(v);
  return r != readers.end() && r->second.size() == 1 && !outputs.count(v);
}

Plan make_plan(const Graph& g, const PlanOptions& options, std::vector<PassText>* texts) {
  Planning p(g, options);
  const auto tell = [&](const char* pass, auto&& text) {
    if (texts) texts->push_back({pass, text()});
  };
  tell("trace", [&] { return traced_text(g); });
  tell("infer", [&] { return inferred_text(g); });  // Graph::add() ran it
  prune(p);
  tell("prune", [&] { return pruned_text(p); });
  push_down(p);
  tell("push_down", [&] { return pushed_down_text(p); });
  group(p);
  tell("group", [&] { return p.plan.text(g); });
  add_reads(p);
  tell("add_reads", [&] { return p.plan.text(g); });
  find_last_uses(p);
  tell("last_use", [&] { return last_uses_text(p); });
  return std::move(p.plan);
}

std::string Plan::step_text(const Graph& g, size_t i) const {
  static constexpr const char* kKinds[] = {"source", "read", "whole", "stage"};
  std::string s = std::string(kKinds[static_cast<int>(steps[i].kind)]) + ":";
  for (int id : steps[i].nodes) s += fmt::format(" %{} {}", id, g.node(id).op);
  if (steps[i].lazy_source) s += " (reads files)";
  return s;
}

std::string Plan::text(const Graph& g) const {
  std::string s;
  for (size_t i = 0; i < steps.size(); ++i) s += step_text(g, i) + "\n";
  return s;
}

}  // namespace penstock
