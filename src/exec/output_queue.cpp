// SPDX-License-Identifier: Apache-2.0
#include "exec/output_queue.h"

#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "exec/steps/frames.h"

namespace penstock {
namespace {

constexpr int kMostSkipped = 1000;  // iterations in a row of which nothing is left

Batch joined(std::vector<Tensor> tensors) {
  return tensors.empty() ? Batch() : Batch::from_tensors(std::move(tensors));
}

// The size that a rebatch of the outputs asks for; 0: there is none.
int rebatch_of(const Plan& plan) {
  int size = 0;
  for (const ValueRef& v : plan.graph.outputs())
    if (const Node& n = plan.graph.node(v.node); n.control == Control::rebatch)
      size = static_cast<int>(constant_of(n, "batch_size", 0));
  return size;
}

bool ends_epoch(const Iteration& it, const PipelineOptions& options) {
  return it.last_of_epoch && options.epoch_mode != EpochMode::stream;
}

}  // namespace

OutputQueue::OutputQueue(const Plan& plan, const PipelineOptions& options, PipelineSources& sources,
                         Statistics& statistics, IterationQueue& iterations)
    : budget(options.error_budget >= 0 ? ErrorBudget::count(options.error_budget) : ErrorBudget::unlimited()),
      deliveries(sources, options),
      plan_(plan),
      options_(options),
      sources_(sources),
      statistics_(statistics),
      iterations_(iterations),
      rebatch_(rebatch_of(plan)) {
  if (rebatch_ > 0) check_refill();
}

void OutputQueue::check_refill() const {
  const auto& outputs = plan_.graph.outputs();
  const int primary = sources_.primary();
  if (primary >= 0)
    if (const auto meta = sources_.at(primary).meta(); meta && meta->batches >= 0)
      bad_argument(
          "the batches of '{}' are formed by length; batches of one size would join them again: omit bucket_by and "
          "lengths, or what divides the batches anew",
          plan_.graph.node(primary).name);
  for (const ValueRef& v : outputs)
    if (plan_.graph.domain_of(v) != plan_.graph.domain_of(outputs[0]))
      bad_argument(
          "outputs of different samples cannot be divided into batches of one size; pass all outputs to one call of "
          "rebatch");
}

// The oldest iteration, when it is done; throws what it ended with.
std::shared_ptr<Iteration> OutputQueue::next_finished(const Poll& poll, std::vector<LeftOut>& left_out) {
  const int64_t begin = clock_ns();
  statistics_.loop().waits(begin);
  auto it = iterations_.take(poll);
  for (int empty = 0; !it; ++empty) {  // too few samples are left for a batch
    if (empty == kMostSkipped) bad_argument("no sample remained in {} consecutive iterations", empty);
    iterations_.schedule(false, SIZE_MAX, true);
    it = iterations_.take(poll);
  }
  statistics_.waited(begin, clock_ns(), iterations_.found_ready());
  at_end_of_epoch_ = ends_epoch(*it, options_);
  if (it->late) deliveries.deliver(*it);
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

void OutputQueue::set_refill(int batch_size) {
  if (iterations_.next_number() > 0)
    bad_argument(
        "the pipeline has already run: set how its batches are divided before the first "
        "run");
  if (batch_size < 1) bad_argument("a batch must have at least 1 sample, got {}", batch_size);
  if (iterations_.late && batch_size != options_.batch_size)
    bad_argument("late=\"swap\" makes batches of {} samples: they cannot have {}", options_.batch_size, batch_size);
  if (iterations_.late) return;
  check_refill();
  if (rebatch_ == 0) rebatch_ = batch_size;
}

// An iteration of which nothing is handed out makes room for another one.
void OutputQueue::replace_skipped() {
  for (const auto& [node, source] : sources_.all()) {
    auto* external = dynamic_cast<ExternalSource*>(source.get());
    if (external && dynamic_cast<FeedQueue*>(external->feed()))
      bad_argument(
          "no batch resulted from the data that was fed to '{}': too few of its samples remained; feed the "
          "next batch",
          plan_.graph.node(node).name);
  }
  schedule();
}

// An iteration may fill several batches.
bool OutputQueue::schedule(bool soon) {
  return iterations_.schedule(soon, rebatch_ > 0 ? static_cast<size_t>(iterations_.depth) : SIZE_MAX);
}

PipelineOutput OutputQueue::outputs(const Poll& poll) {
  iterations_.check_process();
  if (rebatch_ > 0) return refilled(poll);
  PipelineOutput out;
  for (int skipped = 1;; ++skipped) {
    const auto it = next_finished(poll, out.left_out);
    if (!it->late) deliveries.states = it->states;
    out.taken += it->taken, ++out.source_batches;
    out.end_of_epoch = ends_epoch(*it, options_);
    if (it->skipped && !out.end_of_epoch) {
      if (skipped == kMostSkipped) {
        const Node& n = plan_.graph.node(plan_.steps[it->step].nodes[0]);
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

// An iteration that was skipped gives batches without samples.
void OutputQueue::add_outputs(PipelineOutput& out, Iteration& it) {
  const auto& outputs = plan_.graph.outputs();
  for (auto v = outputs.begin(); v != outputs.end(); ++v) {
    const bool again = std::find(v + 1, outputs.end(), *v) != outputs.end();
    out.batches.push_back(it.skipped ? Batch() : again ? it.values.at(*v) : std::move(it.values.at(*v)));
  }
  if (it.skipped) return;
  use_domain(it, plan_.graph.domain_of(plan_.graph.outputs().front()));
  out.origin = std::move(it.origin);
  if (it.log) out.logs.assign(out.origin.size(), it.log);
}

PipelineOutput OutputQueue::refilled(const Poll& poll) {
  int have = 0;
  PipelineOutput out;
  for (const Part& p : parts_) have += p.left();
  bool flush = !parts_.empty() && parts_.back().output.end_of_epoch;
  for (int empty = 0; have < rebatch_ && !flush;) {
    if (empty == kMostSkipped) bad_argument("no sample remained in {} consecutive iterations", empty);
    if (iterations_.size() == 0) replace_skipped();
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
    p.output.end_of_epoch = flush = ends_epoch(*it, options_);
    p.states = std::move(it->states);
    p.at = std::min(std::exchange(deliveries.resumed, 0), static_cast<int>(p.output.origin.size()));
    have += p.left();
    empty = p.left() ? 0 : empty + 1;
    parts_.push_back(std::move(p));
  }
  const int wanted = std::min(have, rebatch_);
  const bool drop = flush && wanted < rebatch_ && options_.epoch_mode == EpochMode::drop;
  std::vector<std::vector<Tensor>> samples(plan_.graph.outputs().size());
  for (int left = wanted; !parts_.empty();) {
    Part& p = parts_.front();
    const int count = std::min(left, p.left());
    for (int i = p.at; i < p.at + count && !drop; ++i) {
      for (size_t k = 0; k < samples.size(); ++k) samples[k].push_back(p.output.batches[k].tensor(i));
      out.origin.push_back(p.output.origin[static_cast<size_t>(i)]);
      if (logs_) out.logs.push_back(p.output.logs.empty() ? nullptr : p.output.logs[static_cast<size_t>(i)]);
    }
    p.at += count, left -= count, deliveries.skip = p.at;
    if (p.left() > 0) break;
    deliveries.states = std::move(p.states);
    out.taken += p.output.taken, ++out.source_batches;
    out.end_of_epoch = p.output.end_of_epoch;
    deliveries.skip = 0;
    parts_.pop_front();
  }
  for (auto& tensors : samples) out.batches.push_back(joined(std::move(tensors)));
  hand_out(out);
  return out;
}

void OutputQueue::hand_out(const PipelineOutput& out) {
  ++delivered_;
  statistics_.loop().delivered(static_cast<int>(out.origin.size()));
}

void OutputQueue::replay(std::vector<DrawOrigin> origins) {
  if (iterations_.size() > 0 || !parts_.empty())
    bad_argument(
        "batches are in flight, which have drawn their numbers: say what to replay before the first run, or make "
        "another pipeline");
  sources_.replays.begin(std::move(origins), iterations_.next_number());
}

void OutputQueue::begin_at_a_batch() {
  at_end_of_epoch_ = false;
  parts_.clear();
  deliveries.skip = deliveries.resumed = 0;
}

void OutputQueue::go_back() {
  parts_.clear();
  deliveries.resumed = deliveries.skip;  // of the iteration that the next batch begins in
}

// Nothing is in flight.
void OutputQueue::reset(bool leave_epoch) {
  sources_.begin_again();
  if (const auto furthest = deliveries.late && leave_epoch ? deliveries.late->furthest() : std::nullopt)
    deliveries.states = *furthest;
  if (deliveries.skip > 0 && !parts_.empty()) deliveries.states = parts_.front().states;
  parts_.clear();
  deliveries.begin_again(leave_epoch);
}

}  // namespace penstock
