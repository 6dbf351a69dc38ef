// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "base/thread_pool.h"
#include "exec/log_steps.h"
#include "exec/steps/direct_files.h"
#include "exec/steps/frames.h"
#include "readers/gpu_writer.h"

namespace penstock {

static PipelineOptions with_threads(PipelineOptions o) {
  if (o.threads <= 0) o.threads = usable_cores();
  return o;
}

Executor::Executor(Graph g, PipelineOptions o)
    : graph(std::move(g)),
      options(with_threads(std::move(o))),
      plan(make_plan(graph, plan_options(graph, options, engines))),
      statistics(plan, options.threads),
      budget(options.error_budget >= 0 ? ErrorBudget::count(options.error_budget) : ErrorBudget::unlimited()),
      sources(graph, plan, options),
      process_(getpid()) {
  if (options.batch_size < 1) bad_argument("the batch size must be at least 1, got {}", options.batch_size);
  if (!options.memory) {
    auto own = std::make_shared<HostPool>();
    pool = own.get();
    options.memory = own;
  }
  find_rebatch();
  find_first_states();
  open_gpu();
  const bool gpu_reads = std::any_of(plan.steps.begin(), plan.steps.end(),
                                     [](const Step& s) { return s.kind == Step::Kind::decode && !s.lazy_source; });
  for (const auto& [id, s] : sources.all())
    s->set_memory(gpu_reads ? gpu_->staging() : options.memory), s->set_threads(options.threads);
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::source && s.gpu && info_of(plan.graph.node(s.nodes[0])).decodes_to_device)
      dynamic_cast<GpuWriter&>(sources.at(s.nodes[0])).write_to_gpu({gpu_->runtime(), gpu_->device(), gpu_->memory()});
  if (gpu_) read_directly(sources, plan, *gpu_);
  context_.reset(
      new StepContext{graph, plan, options, statistics, sources, callbacks, outputs_, *this, gpu_.get(), engines});
  context_->depth = depth;
  steps_ = make_steps(*context_);
  errors_ = std::make_unique<ErrorPolicy>(*context_, steps_);
  workers_.resize(static_cast<size_t>(options.threads) + 1);
  open_index();
  begin_threads();
}

// Steps that wait for the program have threads of their own.
void Executor::begin_threads() {
  lanes_.assign(steps_.size(), kAnyStep);
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i]->rules.own_threads > 0) lanes_[i] = scheduler_.add_lane();
  try {
    for (int i = 0; i < options.threads; ++i) scheduler_.begin_thread(i, kAnyStep);
    for (size_t i = 0; i < steps_.size(); ++i)
      for (int k = 0; k < steps_[i]->rules.own_threads; ++k) scheduler_.begin_thread(options.threads, lanes_[i]);
  } catch (...) {  // a system without room for another thread
    stop();
    throw;
  }
}

void Executor::open_gpu() {
  const bool readers = std::all_of(sources.all().begin(), sources.all().end(),
                                   [](const auto& s) { return s.second->meta().has_value(); });
  depth = depth_of(options, engines, readers);
  if (!plan.uses_gpu()) return;
  gpu_ =
      std::make_unique<GpuWork>(std::max(0, options.device), options.one_stream ? 1 : depth + 1, options.memory_limit);
  gpu_room_ = std::make_unique<GpuRoom>(*gpu_, depth, !engines.empty(), [this] { scheduler_.made_room(); });
}

void Executor::open_index() {
  check_index_option(options.entropy_index);
  const bool wanted = std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.kind == Step::Kind::stage && !s.gpu && context_->has_record(s.inputs[0]);
  });
  if (!wanted) return;
  indexes_ = open_indexes(options.entropy_index, sources.at(sources.primary()).data_set());
  if (!indexes_.store) return;
  for (auto& w : workers_)
    for (auto& access : w.index) access = std::make_unique<RecordIndexAccess>(indexes_.store, indexes_.use, kIndexStep);
}

void Executor::add_index_statistics(PipelineStatistics& s) const {
  if (!indexes_.store) return;
  s.index_path = indexes_.store->path(), s.index_note = indexes_.store->note();
  for (const auto& w : workers_)
    for (const auto& access : w.index) {
      const IndexCounts c = access->counts();
      s.index.made += c.made, s.index.used += c.used, s.index.stale += c.stale;
    }
}

bool Executor::forked() const { return process_ != getpid(); }

// Before any lock: threads and the state of locks do not come along through a fork.
void Executor::check_process() const {
  if (forked()) bad_argument("this pipeline was made before a fork; make it in the process that uses it");
}

const void* calling_pipeline() { return Scheduler::serving.scheduler; }
void call_for_pipeline(const void* pipeline) { Scheduler::serving = {static_cast<const Scheduler*>(pipeline), 0}; }

Executor::~Executor() {
  ask_to_stop();
  stop();
}

void Executor::ask_to_stop() {
  if (scheduler_.stopping()) return;
  sources.cancel();
  callbacks.cancel();
  scheduler_.ask_to_stop();
}

bool Executor::stop_within(std::chrono::milliseconds patience) {
  ask_to_stop();
  return scheduler_.stop_within(patience);
}

void Executor::stop() {
  scheduler_.stop();
  steps_.clear();   // and their decoders
  sources.clear();  // what they have enqueued is on gpu_
}

void Executor::schedule(bool soon) {
  check_process();
  auto it = std::make_shared<Iteration>();
  for (const auto& n : graph.nodes())
    for (int k = 0; k < n.outputs; ++k) it->values[{n.id, k}];
  for (const auto& s : plan.steps)
    if (s.output.place != Place::made) it->values[s.output];
  // An iteration may fill several batches.
  scheduler_.add(std::move(it), soon, rebatch_ > 0 ? static_cast<size_t>(depth) : SIZE_MAX);
}

int Executor::in_flight() {
  check_process();
  return static_cast<int>(scheduler_.size());
}

// Iterations that run ahead belong to the epoch that ends.
void Executor::reset(bool leave_epoch, const std::function<void()>& poll) {
  check_process();
  consumer_.drop_all(poll);
  sources.begin_again();
  if (skip_ > 0 && !parts_.empty()) delivered_states_ = parts_.front().states;
  parts_.clear();
  skip_ = resumed_ = 0;
  for (const auto& [id, s] : sources.all()) {
    const auto delivered = delivered_states_.find(id);
    const bool some = delivered != delivered_states_.end();
    if (leave_epoch) s->begin_epoch(some ? delivered->second : std::string());
    else s->reset();
    s->next_number = -1;
    if (some && (leave_epoch || !s->meta())) delivered->second = s->state();
  }
}

int64_t Executor::device_bytes_in_use() const {
  size_t bytes = gpu_ ? gpu_->bytes_in_use() : 0;
  for (const auto& step : steps_) bytes += step->bytes_in_use();
  return static_cast<int64_t>(bytes);
}

const Node* Executor::starving(const Job& job) const {
  const StepRunner& step = current(job);
  if (job.finished || job.prepared || !step.starves()) return nullptr;
  return &graph.node(step.node.id);
}

}  // namespace penstock
