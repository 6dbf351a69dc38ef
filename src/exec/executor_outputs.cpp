// SPDX-License-Identifier: Apache-2.0
// What the user receives: finished iterations as they are, or cut anew into batches of one size; and what a checkpoint
// says of it.
#include <algorithm>

#include "base/json_text.h"
#include "exec/executor.h"

namespace penstock {
namespace {

// 2: operators of one seed draw the same numbers; the position of pipelines without sources.
constexpr int kCheckpointVersion = 2;
constexpr int kMostSkipped = 1000;  // iterations in a row of which nothing is left

Batch joined(std::vector<Tensor> tensors) {
  return tensors.empty() ? Batch() : Batch::from_tensors(std::move(tensors));
}

}  // namespace

void Executor::find_rebatch() {
  const auto& outputs = plan.graph.outputs();
  for (const ValueRef& v : outputs) {
    const Node& n = plan.graph.node(v.node);
    if (n.control == Control::rebatch) rebatch_ = static_cast<int>(constant_of(n, "batch_size", 0));
  }
  if (rebatch_ > 0) check_refill();
}

void Executor::check_refill() const {
  const auto& outputs = plan.graph.outputs();
  if (primary >= 0)
    if (const auto meta = sources_.at(primary)->meta(); meta && meta->batches >= 0)
      bad_argument(
          "the batches of '{}' are formed by length; batches of one size would join them again: omit bucket_by and "
          "lengths, or what divides the batches anew",
          plan.graph.node(primary).name);
  for (const ValueRef& v : outputs)
    if (plan.graph.domain_of(v) != plan.graph.domain_of(outputs[0]))
      bad_argument(
          "outputs of different samples cannot be divided into batches of one size; pass all outputs to one call of "
          "rebatch");
}

// What has a state; a source that has none begins anew in a new pipeline, and says so once it has given a batch.
void Executor::find_first_states() {
  for (const auto& [node, source] : sources_)
    if (std::string state = source->state(); !state.empty()) delivered_states_[node] = std::move(state);
  if (primary < 0) delivered_states_[kNoSource] = "0";
}

// The oldest iteration, when it is done; throws what it ended with.
std::shared_ptr<Iteration> Executor::next_finished(const std::function<void()>& poll, std::vector<LeftOut>& left_out) {
  std::shared_ptr<Iteration> it;
  std::deque<std::shared_ptr<Iteration>> gone;  // let go of without the mutex
  const int64_t begin = clock_ns();
  {
    std::unique_lock lock(mutex_);
    if (queue_.empty() && lists_)
      fail(ErrorKind::stopped, "all batches that were scheduled have been returned: schedule() others, or seek() one");
    if (queue_.empty()) bad_argument("outputs() without a scheduled run");
    consumer_waits_ = true;
    Wake room;
    wake_for_room(room);
    wake(room);
    if (std::exchange(held_, kNobody) != kNobody) {
      const auto front = queue_.front();
      lock.unlock();
      wake(run_here(front));
      lock.lock();
    }
    try {
      wait_for_consumer(lock, poll, [&] {
        const Iteration& first = *queue_.front();
        if (const Node* source = starving(first))
          bad_argument(
              "nothing was fed to '{}': it has no source of its own: call feed_input() before the batch is "
              "requested",
              source->name);
        return first.finished;
      });
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      consumer_waits_ = false;
      throw;
    }
    consumer_waits_ = false;
    it = std::move(queue_.front());
    queue_.pop_front();
    if (it->end_of_data) {  // those behind it end at once; none may be left that asks its source after a reset()
      wait_for_consumer(lock, poll, [&] {
        return std::all_of(queue_.begin(), queue_.end(), [](const auto& i) { return i->finished; });
      });
      gone.swap(queue_);
    }
  }
  statistics.waited(begin, clock_ns());
  at_end_of_epoch_ = ends_epoch(*it);
  if (it->no_memory) throw std::bad_alloc();
  if (it->failure) throw *it->failure;
  if (it->end_of_data) fail(ErrorKind::stopped, "the data have ended");
  for (auto& sample : it->left_out) {  // what is read ahead does not count yet
    sample.batch = delivered_;
    budget.add(sample);
    left_out.push_back(std::move(sample));
  }
  return it;
}

void Executor::set_refill(int batch_size) {
  std::lock_guard lock(mutex_);
  if (next_number_ > 0)
    bad_argument(
        "the pipeline has already run: set how its batches are divided before the first "
        "run");
  if (batch_size < 1) bad_argument("a batch must have at least 1 sample, got {}", batch_size);
  check_refill();
  if (rebatch_ == 0) rebatch_ = batch_size;
}

// An iteration of which nothing is handed out makes room for another one.
void Executor::replace_skipped() {
  for (auto& [node, source] : sources_) {
    auto* external = dynamic_cast<ExternalSource*>(source.get());
    if (external && dynamic_cast<FeedQueue*>(external->feed()))
      bad_argument(
          "no batch resulted from the data that was fed to '{}': too few of its samples remained; feed the "
          "next batch",
          graph.node(node).name);
  }
  schedule();
}

bool Executor::ends_epoch(const Iteration& it) const {
  return it.last_of_epoch && options.epoch_mode != EpochMode::stream;
}

PipelineOutput Executor::outputs(const std::function<void()>& poll) {
  check_process();
  if (rebatch_ > 0) return refilled(poll);
  PipelineOutput out;
  for (int skipped = 1;; ++skipped) {
    const auto it = next_finished(poll, out.left_out);
    delivered_states_ = it->states;
    out.taken += it->taken, ++out.source_batches;
    out.end_of_epoch = ends_epoch(*it);
    if (it->skipped && !out.end_of_epoch) {
      if (skipped == kMostSkipped) {
        const Node& n = plan.graph.node(plan.steps[it->step].nodes[0]);
        Error e(ErrorKind::argument, fmt::format("left too few samples in {} consecutive iterations", skipped));
        e.op = n.op, e.user_line = n.user_line;
        throw e;
      }
      replace_skipped();
      continue;
    }
    add_outputs(out, *it);
    hand_out(out);
    return out;
  }
}

// Of an iteration that was skipped, batches without samples.
void Executor::add_outputs(PipelineOutput& out, Iteration& it) {
  const auto& outputs = plan.graph.outputs();
  for (auto v = outputs.begin(); v != outputs.end(); ++v) {
    const bool again = std::find(v + 1, outputs.end(), *v) != outputs.end();
    out.batches.push_back(it.skipped ? Batch() : again ? it.values.at(*v) : std::move(it.values.at(*v)));
  }
  if (it.skipped) return;
  use_domain(it, plan.graph.domain_of(plan.graph.outputs().front()));
  out.origin = std::move(it.origin);
  if (it.log) out.logs.assign(out.origin.size(), it.log);
}

PipelineOutput Executor::refilled(const std::function<void()>& poll) {
  int have = 0;
  PipelineOutput out;
  for (const Part& p : parts_) have += p.left();
  bool flush = !parts_.empty() && parts_.back().output.end_of_epoch;
  for (int empty = 0; have < rebatch_ && !flush;) {
    if (empty == kMostSkipped) bad_argument("no sample remained in {} consecutive iterations", empty);
    if (in_flight() == 0) replace_skipped();
    std::shared_ptr<Iteration> it;
    if (auto error = error_of([&] { it = next_finished(poll, out.left_out); })) {
      if (error->kind() != ErrorKind::stopped || have == 0) {
        if (error->kind() == ErrorKind::stopped) parts_.clear();
        throw std::move(*error);
      }
      break;  // the data have ended: what there is
    }
    Part p;
    add_outputs(p.output, *it);
    p.output.taken = it->taken;
    p.output.end_of_epoch = flush = ends_epoch(*it);
    p.states = std::move(it->states);
    p.at = std::min(std::exchange(resumed_, 0), static_cast<int>(p.output.origin.size()));
    have += p.left();
    empty = p.left() ? 0 : empty + 1;
    parts_.push_back(std::move(p));
  }
  const int wanted = std::min(have, rebatch_);
  const bool drop = flush && wanted < rebatch_ && options.epoch_mode == EpochMode::drop;
  std::vector<std::vector<Tensor>> samples(plan.graph.outputs().size());
  for (int left = wanted; !parts_.empty();) {
    Part& p = parts_.front();
    const int count = std::min(left, p.left());
    for (int i = p.at; i < p.at + count && !drop; ++i) {
      for (size_t k = 0; k < samples.size(); ++k) samples[k].push_back(p.output.batches[k].tensor(i));
      out.origin.push_back(p.output.origin[static_cast<size_t>(i)]);
      if (logs_steps_) out.logs.push_back(p.output.logs.empty() ? nullptr : p.output.logs[static_cast<size_t>(i)]);
    }
    p.at += count, left -= count, skip_ = p.at;
    if (p.left() > 0) break;
    delivered_states_ = std::move(p.states);
    out.taken += p.output.taken, ++out.source_batches;
    out.end_of_epoch = p.output.end_of_epoch;
    skip_ = 0;
    parts_.pop_front();
  }
  for (auto& tensors : samples) out.batches.push_back(joined(std::move(tensors)));
  hand_out(out);
  return out;
}

void Executor::hand_out(const PipelineOutput& out) {
  ++delivered_;
  statistics.delivered(static_cast<int>(out.origin.size()));
}

std::string Executor::checkpoint() const {
  nlohmann::json sources = nlohmann::json::object();
  nlohmann::json text{{"penstock_checkpoint", kCheckpointVersion}, {"seed", graph.seed()}, {"skip", skip_}};
  for (const auto& [node, state] : delivered_states_) {
    if (node == kNoSource) {
      text["position"] = std::stoull(state);
      continue;
    }
    if (state.empty())
      bad_argument(
          "the source '{}' cannot be resumed: give external_source a callable that takes an index, or an object with "
          "state_dict()",
          graph.node(node).name);
    sources[graph.node(node).name] = state;
  }
  text["sources"] = std::move(sources);
  return text.dump();
}

void Executor::restore(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (next_number_ > 0) bad_argument("a checkpoint must be restored before the first run");
  try {
    const auto j = parse_json(text);
    if (!j.is_object() || !j.contains("penstock_checkpoint") || !j.contains("sources") || !j["sources"].is_object())
      bad_argument("this is not a checkpoint of a pipeline");
    check_form("checkpoint", j["penstock_checkpoint"], kCheckpointVersion);
    graph.set_seed(whole_number(j.value("seed", nlohmann::json(0)), uint64_t{0}, UINT64_MAX, "the checkpoint's seed"));
    skip_ = resumed_ = whole_number(j.value("skip", nlohmann::json(0)), 0, INT32_MAX, "the checkpoint's skip");
    if (j.contains("position")) {
      if (primary >= 0)
        bad_argument(
            "the checkpoint is from a pipeline without sources, but this pipeline has "
            "sources");
      first_position_ = whole_number(j["position"], uint64_t{0}, uint64_t{1} << 62, "the checkpoint's position");
      delivered_states_[kNoSource] = std::to_string(first_position_);
    }
    for (const auto& [name, state] : j["sources"].items()) {
      const int node = graph.find(name);
      if (node < 0 || !sources_.count(node))
        bad_argument("the checkpoint has a source '{}' that this pipeline lacks", name);
      sources_[node]->restore(state.get<std::string>());
      delivered_states_[node] = state.get<std::string>();
    }
  } catch (const nlohmann::json::exception& e) {
    bad_argument("the checkpoint cannot be read: {}", e.what());
  }
}

}  // namespace penstock
