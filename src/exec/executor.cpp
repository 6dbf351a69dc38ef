// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.h"

#include <algorithm>
#include <utility>

#include "base/near_cores.h"
#include "base/settings.h"
#include "base/thread_pool.h"
#include "exec/seek.h"
#include "exec/steps/direct_files.h"
#include "readers/gpu_writer.h"

namespace penstock {

const void* calling_pipeline() { return Scheduler::serving.scheduler; }
void call_for_pipeline(const void* pipeline) { Scheduler::serving = {static_cast<const Scheduler*>(pipeline), 0}; }

static PipelineOptions with_threads(PipelineOptions o) {
  if (o.batch_size < 1) bad_argument("the batch size must be at least 1, got {}", o.batch_size);
  if (o.threads <= 0) o.threads = usable_cores();
  if (Setting("PENSTOCK_EXEC").text().starts_with("stepping")) o.stepping = true;
  if (o.stepping) o.late = Late::wait;  // nobody else works while a sample is made
  return o;
}

// Null where the options have memory.
static HostPool* own_pool(PipelineOptions& o) {
  if (o.memory) return nullptr;
  auto own = std::make_shared<HostPool>();
  HostPool* pool = own.get();
  o.memory = std::move(own);
  return pool;
}

Executor::Executor(Graph g, PipelineOptions o)
    : graph(std::move(g)),
      options(with_threads(std::move(o))),
      plan(make_plan(graph, plan_options(graph, options, engines))),
      statistics(plan, options.threads_made()),
      sources(graph, plan, options),
      pool_(own_pool(options)) {
  try {
    open();
  } catch (...) {  // as on a system without room for another thread
    stop();
    throw;
  }
}

void Executor::open() {
  open_gpu();
  const bool near = gpu_ && options.set_affinity;
  const OnCores scope(near ? cores_near(gpu_->runtime().pci_bus_id(gpu_->device())) : std::vector<int>());
  open_sources();
  runner_.workers.resize(static_cast<size_t>(options.threads_made()) + 1);
  indexes_.open(context_, runner_.workers);
  if (options.late == Late::swap) {
    late_ = std::make_unique<LateSamples>(context_);
    context_.late = iterations.late = late_.get();
    outputs.deliveries.late = &late_->delivered;
  }
  runner_.admission.refills = outputs.refill() > 0 || late_;
  runner_.begin(iterations.scheduler);
}

void Executor::open_gpu() {
  const bool readers = std::all_of(sources.all().begin(), sources.all().end(),
                                   [](const auto& s) { return s.second->meta().has_value(); });
  context_.depth = depth_of(options, engines, plan.uses_gpu() && readers);
  iterations.depth = context_.depth;
  if (!plan.uses_gpu()) return;
  const int streams = options.one_stream ? 1 : context_.depth + 1;
  gpu_ = std::make_unique<GpuWork>(std::max(0, options.device), streams, options.memory_limit);
  context_.gpu = gpu_.get();
  runner_.admission.open_gpu(!engines.empty(), [this] { iterations.scheduler.made_room(); });
}

void Executor::open_sources() {
  const bool gpu_reads = std::any_of(plan.steps.begin(), plan.steps.end(),
                                     [](const Step& s) { return s.kind == Step::Kind::decode && !s.lazy_source; });
  for (const auto& [id, s] : sources.all())
    s->set_memory(gpu_reads ? gpu_->staging() : options.memory), s->set_threads(options.threads);
  if (!gpu_) return;
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::source && s.gpu && info_of(plan.graph.node(s.nodes[0])).decodes_to_device)
      dynamic_cast<GpuWriter&>(sources.at(s.nodes[0])).write_to_gpu({gpu_->runtime(), gpu_->device(), gpu_->memory()});
  read_directly(sources, plan, *gpu_);
}

Executor::~Executor() {
  memory_.close();
  stop();
}

void Executor::ask_to_stop() {
  if (iterations.scheduler.stopping()) return;
  sources.cancel();
  callbacks.cancel();
  iterations.scheduler.ask_to_stop();
}

bool Executor::stop_within(std::chrono::milliseconds patience) {
  ask_to_stop();
  return iterations.scheduler.stop_within(patience);
}

void Executor::stop() {
  ask_to_stop();
  iterations.scheduler.stop();
  if (gpu_) gpu_->silence();  // the device may be about to tell that an iteration goes on to its next step
  runner_.end_steps();
  sources.clear();  // what they have enqueued is on gpu_
}

// Iterations that run ahead belong to the epoch that ends.
void Executor::reset(bool leave_epoch, const JobConsumer::Poll& poll) {
  iterations.drop_all(poll);
  if (iterations.lists()) go_back(*this);
  outputs.reset(leave_epoch);
  if (late_) late_->clear();
}

void Executor::restore(const std::string& state) {
  if (iterations.next_number() > 0) bad_argument("a checkpoint must be restored before the first run");
  outputs.deliveries.restore(state, graph);
}

void Executor::set_refill(int batch_size) {
  outputs.set_refill(batch_size);
  runner_.admission.refills = outputs.refill() > 0 || late_;
}

void Executor::watch_steps(AfterStep after) {
  if (!options.stepping) bad_argument("only a pipeline without threads shows its steps: set PipelineOptions::stepping");
  if (iterations.next_number() > 0) bad_argument("the pipeline has already run: say before the first run who looks");
  context_.after_step = std::move(after);
}

void Executor::log_steps() {
  context_.logs_steps = true;
  outputs.log_steps();
}

void Executor::add_to(PipelineStatistics& s) const {
  indexes_.add_to(s, runner_.workers);
  s.device_bytes_in_use = static_cast<int64_t>(runner_.admission.device_bytes_in_use());
  if (pool_) s.bytes_held = pool_->bytes_held(), s.bytes_in_use = pool_->bytes_in_use();
}

}  // namespace penstock
