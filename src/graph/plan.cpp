// SPDX-License-Identifier: Apache-2.0
#include "graph/plan.h"

#include <algorithm>

#include "base/settings.h"
#include "graph/passes.h"

namespace penstock {

PlanOptions plan_options_from_environment() {
  PlanOptions o;
  const std::string_view exec = Setting("PENSTOCK_EXEC").text();
  if (!exec.empty() && exec != "simple" && exec != "stepping" && exec != "stepping-fused")
    bad_argument("PENSTOCK_EXEC is '{}'; it can be simple, stepping or stepping-fused{}", exec,
                 did_you_mean(std::string(exec), {"simple", "stepping", "stepping-fused"}));
  if (exec == "simple" || exec == "stepping") o.fuse = o.push_down = false;
  if (Setting("PENSTOCK_PUSH_DOWN").text() == "0") o.push_down = false;
  return o;
}

Planning::Planning(const Graph& g, const PlanOptions& o) : options(o), outputs(g.outputs().begin(), g.outputs().end()) {
  plan.options = o;
  plan.graph = g;
}

bool Planning::read_once(ValueRef v) const {
  size_t n = 0;
  for (const Place place : {Place::made, Place::cpu, Place::gpu}) {
    const ValueRef there{v.node, v.output, place};
    if (outputs.count(there)) return false;
    if (const auto r = readers.find(there); r != readers.end()) n += r->second.size();
  }
  return n == 1;
}

Plan make_plan(const Graph& g, const PlanOptions& options, std::vector<PassText>* texts) {
  Planning p(g, options);
  const auto tell = [&](const char* pass, auto&& text) {
    if (texts) texts->push_back({pass, text()});
  };
  tell("trace", [&] { return traced_text(g); });
  tell("infer", [&] { return inferred_text(g); });  // Graph::add() ran it
  settle_domains(p);
  prune(p);
  tell("prune", [&] { return pruned_text(p); });
  place(p);
  tell("place", [&] { return pruned_text(p); });
  push_down(p);
  tell("push_down", [&] { return pushed_down_text(p); });
  group(p);
  order_by_domains(p);
  tell("group", [&] { return p.plan.text(); });
  arrange(p);
  add_transfers(p);
  tell("add_transfers", [&] { return p.plan.text(); });
  add_reads(p);
  tell("add_reads", [&] { return p.plan.text(); });
  find_decode_regions(p);
  tell("decode_regions", [&] { return p.plan.text(); });
  find_captures(p);
  find_last_uses(p);
  find_reuse(p);
  find_step_domains(p);
  tell("last_use", [&] { return last_uses_text(p); });
  return std::move(p.plan);
}

bool Plan::uses_gpu() const {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.gpu || s.kind == Step::Kind::transfer; });
}

std::string Plan::step_text(size_t i) const {
  static constexpr const char* kKinds[] = {"source", "read", "whole", "stage", "transfer", "decode", "control", "call"};
  static constexpr const char* kFlows[] = {"if", "else", "end if", "loop", "while", "repeat", "end loop", "unset"};
  const Step& step = steps[i];
  std::string s = kKinds[static_cast<int>(step.kind)];
  if (step.kind == Step::Kind::transfer)
    return s +
           fmt::format(": {} to {}, {}", graph.value_text(step.inputs[0]), graph.value_text(step.output), step.reason);
  if (step.kind == Step::Kind::control && step.flow == Step::Flow::change) {
    const Node& n = graph.node(step.nodes[0]);
    s = fmt::format("{}: %{} of", n.op, n.id);
    for (const ValueRef& v : step.inputs) s += " " + graph.value_text(v);
    return s;
  }
  if (step.kind == Step::Kind::control)
    return fmt::format("{}: %{}{}", kFlows[static_cast<int>(step.flow)], step.nodes[0],
                       step.flow == Step::Flow::begin_branch ? " of " + graph.value_text(step.inputs[0]) : "");
  s += step.gpu ? " on the GPU:" : ":";
  for (int id : step.nodes) s += fmt::format(" %{} {}", id, graph.node(id).op);
  if (step.lazy_source) s += " (reads files)";
  if (step.regions) s += " (what the next step reads)";
  return s;
}

std::string Plan::text() const {
  std::string s;
  for (size_t i = 0; i < steps.size(); ++i) s += step_text(i) + "\n";
  return s;
}

}  // namespace penstock
