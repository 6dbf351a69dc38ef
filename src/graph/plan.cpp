// SPDX-License-Identifier: Apache-2.0
#include "graph/plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace penstock {

PlanOptions plan_options_from_environment() {
  PlanOptions o;
  const char* exec = std::getenv("PENSTOCK_EXEC");
  const char* push = std::getenv("PENSTOCK_PUSH_DOWN");
  if (exec && !std::strcmp(exec, "simple")) o.fuse = o.push_down = false;
  if (push && !std::strcmp(push, "0")) o.push_down = false;
  return o;
}

namespace {

StageTraits traits_of(const Graph& g, const Node& n) {
  static const Batch later(DType::float32, 0, {}, 0);
  const auto args = g.arguments(n, [](ValueRef) { return &later; });
  return bind_op(get_op(n.op), args)->traits();
}

// What a growing stage has so far.
struct Growing {
  size_t step = 0;
  bool decodes = false, filter = false, warp = false, window = false, pixel = false, closed = false;
  bool channels_matter = false, positional = false, many_inputs = false, retyped = false;
  int nodes = 0;
};

bool may_join(const Growing& s, const StageTraits& t, bool push_down) {
  if (s.closed || s.nodes >= 64 || t.decodes) return false;
  if (t.maps) {
    if (s.many_inputs || s.positional || (s.decodes && !push_down)) return false;
    if (t.warps) return !(s.filter || s.warp || s.window || s.pixel || s.retyped);
    if (s.warp) return false;
    if (t.filters) return !(s.filter || s.pixel || s.retyped);
    if (t.maps_channels && s.channels_matter) return false;
  }
  return true;
}

void take(Growing& s, const StageTraits& t, bool retypes, size_t inputs) {
  ++s.nodes;
  s.decodes |= t.decodes;
  s.filter |= t.filters;
  s.warp |= t.warps;
  s.window |= t.maps && !t.filters && !t.warps;
  s.pixel |= t.pixels;
  s.closed |= t.fills;
  s.channels_matter |= t.mixes_channels || t.per_channel;
  s.positional |= t.positional;
  s.many_inputs |= inputs > 1;
  s.retyped |= retypes && !t.filters;
}

}  // namespace

Plan make_plan(const Graph& g, const PlanOptions& options) {
  const auto& nodes = g.nodes();
  // Nodes that outputs need; sources stay in any case: they are what an epoch is counted by.
  std::vector<char> needed(nodes.size(), 0);
  for (const auto& o : g.outputs()) needed[o.node] = 1;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (get_op(nodes[i].op).family == Family::source) needed[i] = 1;
    if (!needed[i]) continue;
    for (const auto& in : nodes[i].inputs) needed[in.node] = 1;
    for (const auto& [name, in] : nodes[i].per_sample) needed[in.node] = 1;
  }
  std::map<ValueRef, std::vector<int>> readers;
  for (const auto& n : nodes) {
    if (!needed[n.id]) continue;
    for (const auto& in : n.inputs) readers[in].push_back(n.id);
    for (const auto& [name, in] : n.per_sample) readers[in].push_back(n.id);
  }
  std::set<ValueRef> outputs(g.outputs().begin(), g.outputs().end());

  Plan plan;
  std::vector<Step> steps;              // in order of their last node
  std::map<ValueRef, Growing> growing;  // by the value that the stage ends in
  auto add_step = [&](Step s) {
    steps.push_back(std::move(s));
    return steps.size() - 1;
  };
  for (const auto& n : nodes) {
    if (!needed[n.id]) continue;
    const OpInfo& info = get_op(n.op);
    if (info.family != Family::stage) {
      Step s;
      s.kind = info.family == Family::source ? Step::Kind::source : Step::Kind::whole;
      s.nodes = {n.id};
      s.inputs = n.inputs;
      add_step(std::move(s));
      continue;
    }
    const StageTraits t = traits_of(g, n);
    const ValueRef result{n.id, 0};
    const ValueRef first = n.inputs.at(0);
    auto it = growing.find(first);
    const bool retypes = !t.pixels && g.type(result).dtype != (t.decodes ? g.type(result).dtype : g.type(first).dtype);
    bool joins = options.fuse && it != growing.end() && readers[first].size() == 1 && !outputs.count(first) &&
                 may_join(it->second, t, options.push_down) && g.node(first.node).region == n.region &&
                 g.node(first.node).domain == n.domain && !(n.inputs.size() > 1 && (it->second.window || it->second.filter || it->second.warp || it->second.decodes));
    if (joins && steps[it->second.step].inputs.size() + n.inputs.size() - 1 > 4) joins = false;
    if (joins) {
      Growing s = it->second;
      growing.erase(it);
      Step moved = std::move(steps[s.step]);
      steps[s.step].nodes.clear();  // its place is where its last node stands
      moved.nodes.push_back(n.id);
      for (size_t k = 1; k < n.inputs.size(); ++k) moved.inputs.push_back(n.inputs[k]);
      moved.output = result;
      s.step = add_step(std::move(moved));
      take(s, t, retypes, n.inputs.size());
      growing[result] = s;
    } else {
      Step s;
      s.kind = Step::Kind::stage;
      s.nodes = {n.id};
      s.inputs = n.inputs;
      s.output = result;
      Growing w;
      w.step = add_step(std::move(s));
      take(w, t, retypes, n.inputs.size());
      growing[result] = w;
    }
  }

  // Readers hand out names of files; who wants bytes gets a step that reads them, a single decoder reads for itself.
  std::set<ValueRef> read;
  for (auto& s : steps) {
    if (s.nodes.empty()) continue;
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      const ValueRef in = s.inputs[k];
      const Node& from = nodes[in.node];
      if (!(get_op(from.op).lazy_files && in.output == 0) || read.count(in)) continue;
      if (s.kind == Step::Kind::stage && k == 0 && readers[in].size() == 1 && !outputs.count(in)) {
        s.lazy_source = true;
        continue;
      }
      read.insert(in);
    }
  }
  for (const auto& o : outputs)
    if (get_op(nodes[o.node].op).lazy_files && o.output == 0) read.insert(o);
  for (auto& s : steps) {
    if (s.nodes.empty()) continue;
    plan.steps.push_back(std::move(s));
    const Step& last = plan.steps.back();
    if (last.kind != Step::Kind::source) continue;
    const ValueRef bytes{last.nodes[0], 0};
    if (read.count(bytes)) {
      Step r;
      r.kind = Step::Kind::read;
      r.nodes = {bytes.node};
      r.output = bytes;
      plan.steps.push_back(std::move(r));
    }
  }
  std::map<ValueRef, int> last;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    for (const auto& in : s.inputs) last[in] = static_cast<int>(i);
    for (int id : s.nodes)
      for (const auto& [name, in] : nodes[id].per_sample) last[in] = static_cast<int>(i);
  }
  for (const auto& [v, step] : last)
    if (!outputs.count(v)) plan.value_last_use.emplace_back(v, step);
  return plan;
}

std::string Plan::text(const Graph& g) const {
  std::string s;
  const char* kinds[] = {"source", "read", "whole", "stage"};
  for (const auto& step : steps) {
    s += kinds[static_cast<int>(step.kind)];
    s += ":";
    for (int id : step.nodes) s += fmt::format(" %{} {}", id, g.node(id).op);
    if (step.lazy_source) s += " (reads files)";
    s += "\n";
  }
  return s;
}

}  // namespace penstock
