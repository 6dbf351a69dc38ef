// SPDX-License-Identifier: Apache-2.0
#include "exec/log_steps.h"

#include <algorithm>

namespace penstock {

constexpr int64_t kMostLogged = 16;  // numbers of an argument

static LoggedNumbers logged(const std::string& argument, const Batch& b, int sample) {
  LoggedNumbers made{argument, b.dtype(), false, {}};
  if (b.device().kind != DeviceKind::cpu || b.dtype() == DType::none) return made;
  const View v = b.view(sample);
  const int64_t count = v.shape.volume();
  made.list = v.shape.size() > 0;
  if (!v.data || !v.dense() || count > kMostLogged) return made;
  for (int64_t k = 0; k < count; ++k) made.values.push_back(element_as_double(v, k));
  return made;
}

void log_step(const StepContext& c, Iteration& it, const StepRunner& runner) {
  const Step& s = runner.step;
  const bool branch = runner.rules.logs_condition;
  const auto is_logged = [&](int id) {
    const Node& n = c.plan.graph.node(id);
    return branch ||
           (n.control == Control::none && (!n.per_sample.empty() || (info_of(n).random && !n.inputs.empty())));
  };
  if (runner.rules.brings_samples || std::none_of(s.nodes.begin(), s.nodes.end(), is_logged)) return;
  c.fill_batch(it);
  if (!it.log) it.log = std::make_shared<StepLog>();
  std::vector<uint64_t> trips;
  for (const Frame& f : it.frames)
    if (c.plan.graph.node(f.node).control == Control::loop) trips.push_back(f.trip);
  for (int id : s.nodes) {
    if (!is_logged(id)) continue;
    const Node& n = c.plan.graph.node(id);
    for (int i = 0; i < it.size; ++i) {
      const SampleOrigin& o = it.origin[static_cast<size_t>(i)];
      LoggedStep step{id, o.number, o.child, trips, {}};
      const auto add = [&](const std::string& name, ValueRef v) {
        const auto found = it.values.find(v);
        if (found != it.values.end() && found->second.size() == it.size)
          step.numbers.push_back(logged(name, found->second, i));
      };
      if (branch) add("condition", s.inputs[0]);
      else
        for (const auto& [name, v] : n.per_sample) add(name, v);
      it.log->push_back(std::move(step));
    }
  }
}

void log_sizes(const StepContext& c, Iteration& it, const Step& s) {
  if (!it.log || it.failure) return;
  for (int id : s.nodes) {
    const Node& n = c.plan.graph.node(id);
    const auto sizes = gives_size(n) ? it.values.find({id, n.outputs - 1}) : it.values.end();
    if (sizes == it.values.end() || sizes->second.size() != it.size) continue;
    auto entry = it.log->rbegin();  // entries of a step have the order of its samples
    for (int i = it.size; i-- > 0;) {
      const SampleOrigin& o = it.origin[static_cast<size_t>(i)];
      while (entry != it.log->rend() && !(entry->node == id && entry->sample == o.number && entry->child == o.child))
        ++entry;
      if (entry == it.log->rend()) break;
      entry->numbers.push_back(logged("input_size", sizes->second, i));
    }
  }
}

}  // namespace penstock
