// SPDX-License-Identifier: Apache-2.0
// Which random numbers samples draw, where a program says it, and the log of what operators did with them.
#include <algorithm>

#include "exec/executor.h"

namespace penstock {

constexpr int64_t kMostLogged = 16;  // numbers of an argument

void Executor::replay(std::vector<DrawOrigin> origins) {
  std::lock_guard lock(mutex_);
  if (!queue_.empty() || !parts_.empty())
    bad_argument(
        "batches are in flight, which have drawn their numbers: say what to replay before the first run, or make "
        "another pipeline");
  replays_ = std::move(origins);
  replayed_ = 0, replay_number_ = next_number_;
}

// Sources are asked in the order of the iterations; without one, batches are full.
void Executor::set_replays(Iteration& it) {
  std::lock_guard lock(mutex_);
  if (replays_.empty()) return;
  uint64_t k = primary >= 0 ? replayed_ : (it.number - replay_number_) * static_cast<uint64_t>(options.batch_size);
  for (SampleOrigin& o : it.origin) o.replays = replays_[k++ % replays_.size()];
  replayed_ = k;
}

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

// Operators that draw by themselves have an entry too, without numbers: a reader of the log sees that they were there.
void Executor::log_step(Iteration& it, const Step& s) {
  const bool branch = s.kind == Step::Kind::control && s.flow == Step::Flow::begin_branch;
  const auto is_logged = [&](int id) {
    const Node& n = plan.graph.node(id);
    return branch ||
           (n.control == Control::none && (!n.per_sample.empty() || (info_of(n).random && !n.inputs.empty())));
  };
  if (s.kind == Step::Kind::source || std::none_of(s.nodes.begin(), s.nodes.end(), is_logged)) return;
  fill_batch(it);
  if (!it.log) it.log = std::make_shared<StepLog>();
  std::vector<uint64_t> trips;
  for (const Frame& f : it.frames)
    if (plan.graph.node(f.node).control == Control::loop) trips.push_back(f.trip);
  for (int id : s.nodes) {
    if (!is_logged(id)) continue;
    const Node& n = plan.graph.node(id);
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

// After the step: which size each operator read, where the graph has it as an output (Graph::give_sizes).
void Executor::log_sizes(Iteration& it, const Step& s) {
  if (s.kind != Step::Kind::stage || !it.log || it.failure) return;
  for (int id : s.nodes) {
    const Node& n = plan.graph.node(id);
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
