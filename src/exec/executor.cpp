// SPDX-License-Identifier: Apache-2.0
#include "exec/executor.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/settings.h"
#include "base/thread_pool.h"
#include "data/remote.h"
#include "device/gpu_backend.h"
#include "device/video_frames.h"
#include "exec/decode_engine.h"
#include "exec/node_source.h"
#include "graph/arrangement.h"
#include "graph/stage_growth.h"
#include "readers/direct_memory.h"
#include "readers/gpu_writer.h"

namespace penstock {

namespace {

PlanOptions plan_options(const Graph& g, const PipelineOptions& o,
                         std::map<int, std::unique_ptr<BatchDecoder>>& engines) {
  PlanOptions p = plan_options_from_environment();
  const auto asks = [&](ValueRef v) { return g.on_gpu(v); };
  const auto wants = [&](const Node& n) { return n.on_gpu || std::any_of(n.inputs.begin(), n.inputs.end(), asks); };
  const auto node = std::find_if(g.nodes().begin(), g.nodes().end(), wants);
  const auto output = std::find_if(g.outputs().begin(), g.outputs().end(), asks);
  if (node == g.nodes().end() && output == g.outputs().end()) return p;
  const Node& first = node == g.nodes().end() ? g.node(output->node) : *node;
  const auto refuse = [&](const std::string& why) {
    Error e(ErrorKind::argument, why);
    e.op = first.op, e.user_line = first.user_line;
    throw e;
  };
  if (o.device == kNoGpu)
    refuse(
        "runs on a GPU, but the pipeline was made for the CPU only: give the pipeline a device_id, or omit the "
        "operator's device");
  const std::string why_not = gpu_backend().why_not();
  const std::string_view required = Setting("PENSTOCK_REQUIRE_GPU").text();
  if (!why_not.empty() && !required.empty() && required != "0")
    refuse(fmt::format("is requested on a GPU and PENSTOCK_REQUIRE_GPU is set, but no GPU can be used: {}", why_not));
  p.gpu = why_not.empty();
  if (!p.gpu) return p;
  GpuWork::check(std::max(0, o.device));
  for (const Node& n : g.nodes()) {
    if (n.on_gpu && info_of(n).decodes_to_device) {
      const std::string why = gpu_video().why_no_video(std::max(0, o.device));
      if (why.empty()) p.gpu_decoders[n.id] = false;
      else warn_declined(why);
    }
    if (!n.on_gpu || !stage_decodes(g, n)) continue;
    try {
      const auto engine = engine_of(info_of(n), g.arguments(n, [](ValueRef) -> const Batch* { return nullptr; }));
      auto decoder = engine ? make_batch_decoder(std::max(0, o.device), *engine) : nullptr;
      if (!decoder) continue;
      p.gpu_decoders[n.id] = decoder->takes_regions();
      engines[n.id] = std::move(decoder);
    } catch (Error& e) {
      e.op = n.op, e.user_line = n.user_line;
      throw;
    }
  }
  return p;
}

// A batch that the user still holds delays the next one's memory at most this long.
constexpr auto kHoldTime = std::chrono::milliseconds(20);

}  // namespace

Executor::Executor(Graph g, PipelineOptions o)
    : graph(std::move(g)),
      options(std::move(o)),
      plan(make_plan(graph, plan_options(graph, options, engines))),
      statistics(plan, options.threads > 0 ? options.threads : usable_cores()),
      budget(options.error_budget >= 0 ? ErrorBudget::count(options.error_budget) : ErrorBudget::unlimited()),
      slots_(std::make_shared<OutputSlots>()),
      process_(getpid()) {
  if (options.batch_size < 1) bad_argument("the batch size must be at least 1, got {}", options.batch_size);
  if (options.threads <= 0) options.threads = usable_cores();
  if (!options.memory) {
    auto own = std::make_shared<HostPool>();
    pool = own.get();
    options.memory = own;
  }
  const auto owners = owners_of_readers(graph);
  std::set<int> asked;  // sources that are part of the plan
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::source) asked.insert(s.nodes[0]);
  for (const auto& n : graph.nodes()) {
    if (info_of(n).fed == Fed::batches && !asked.count(n.id)) continue;
    if (info_of(n).family != Family::source || calls_back(n) || owners.count(n.id)) continue;
    sources_[n.id] = source_of(graph, n, options.batch_size);
    const bool reader = sources_[n.id]->meta().has_value();
    if (primary < 0 || (reader && !sources_[primary]->meta())) primary = n.id;
  }
  if (options.on_error == OnError::skip && !options.uneven && primary >= 0)
    if (const auto meta = sources_[primary]->meta(); meta && meta->number_of_shards > 1)
      bad_argument(
          "on_error=\"skip\" with several shards gives the ranks different numbers of samples; use "
          "on_error=\"replace\", or uneven=True if the training loop supports that");
  cached_.resize(plan.steps.size());
  compiled_.resize(plan.steps.size());
  find_stages_of_numbers();
  slots_->wake = &work_;
  find_rebatch();
  find_first_states();
  open_gpu();
  const bool gpu_reads = std::any_of(plan.steps.begin(), plan.steps.end(),
                                     [](const Step& s) { return s.kind == Step::Kind::decode && !s.lazy_source; });
  for (auto& [id, s] : sources_)
    s->set_memory(gpu_reads ? gpu_->staging() : options.memory), s->set_threads(options.threads);
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::source && s.gpu && info_of(plan.graph.node(s.nodes[0])).decodes_to_device)
      dynamic_cast<GpuWriter&>(*sources_.at(s.nodes[0]))
          .write_to_gpu({gpu_->runtime(), gpu_->device(), gpu_->memory()});
  open_direct();
  workers_.resize(static_cast<size_t>(options.threads) + 1);
  for (auto& w : workers_) w.scratch = std::make_unique<CpuScratch>();
  open_index();
  try {
    threads_.reserve(static_cast<size_t>(options.threads));
    for (int i = 0; i < options.threads; ++i) begin_thread_of(i, kAnyStep);
    start_callers();
  } catch (...) {  // a system without room for another thread
    stop();
    throw;
  }
}

void Executor::open_gpu() {
  constexpr int kMostDepth = 16;
  constexpr size_t kLeastReadAhead = size_t{2} << 30, kMostReadAhead = size_t{8} << 30;
  depth = std::max(1, options.prefetch);
  if (!plan.uses_gpu()) return;
  // What a program feeds is asked for as far ahead as it was told; readers may run further.
  const bool readers =
      std::all_of(sources_.begin(), sources_.end(), [](const auto& s) { return s.second->meta().has_value(); });
  for (const auto& [node, engine] : engines) {
    // A group on each lane, and one that is read meanwhile.
    const int images = (std::max(1, engine->lanes()) + 1) * std::max(1, engine->best_group());
    if (options.prefetch > 0 && readers)
      depth = std::max(depth, std::min(kMostDepth, (images + options.batch_size - 1) / options.batch_size));
  }
  gpu_ =
      std::make_unique<GpuWork>(std::max(0, options.device), options.one_stream ? 1 : depth + 1, options.memory_limit);
  read_ahead_bytes_ = std::clamp(gpu_->runtime().memory_bytes(gpu_->device()) / 24, kLeastReadAhead, kMostReadAhead);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind != Step::Kind::decode) continue;
    const Node& n = plan.graph.node(plan.steps[i].nodes[0]);
    statistics.name_engine(i, engines.at(n.id)->name());
    decoders_[i] =
        std::make_unique<GroupDecoder>(*gpu_, std::move(engines.at(n.id)), bound_early(plan.graph, n)->decode_params(),
                                       int64_t{depth} * options.batch_size);
  }
}

bool Executor::has_record(ValueRef v) const { return names_files(plan.graph, v); }

void Executor::open_index() {
  check_index_option(options.entropy_index);
  const bool wanted = std::any_of(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.kind == Step::Kind::stage && !s.gpu && has_record(s.inputs[0]);
  });
  if (!wanted) return;
  indexes_ = open_indexes(options.entropy_index, sources_.at(primary)->data_set());
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

Source* Executor::source_or_null(int node) {
  if (auto it = sources_.find(node); it != sources_.end()) return it->second.get();
  for (auto& [id, s] : sources_)
    if (Source* reader = s->mixed(node)) return reader;
  return nullptr;
}

bool Executor::forked() const { return process_ != getpid(); }

// Before any lock: threads and the state of locks do not come along through a fork.
void Executor::check_process() const {
  if (forked()) bad_argument("this pipeline was made before a fork; make it in the process that uses it");
}

bool Executor::schedule(bool soon) {
  check_process();
  auto it = std::make_shared<Iteration>();
  for (const auto& n : graph.nodes())
    for (int k = 0; k < n.outputs; ++k) it->values[{n.id, k}];
  for (const auto& s : plan.steps)
    if (s.output.place != Place::made) it->values[s.output];
  Wake first, before;
  {
    std::lock_guard lock(mutex_);
    if (rebatch_ > 0 && static_cast<int>(queue_.size()) >= depth) return true;  // an iteration may fill several batches
    if (lists_) {
      if (listed_.empty()) return false;
      it->place = listed_.front();
      listed_.pop_front();
    }
    it->number = next_number_++;
    if (gpu_) it->stream = gpu_->stream(it->number);
    before.lane = std::exchange(held_, kNobody);
    first.lane = lane_of(it->step);
    if (soon && queue_.empty()) std::swap(held_, first.lane);
    queue_.push_back(std::move(it));
  }
  wake(before);
  wake(first);
  return true;
}

int Executor::in_flight() {
  check_process();
  std::lock_guard lock(mutex_);
  return static_cast<int>(queue_.size());
}

void Executor::reset(bool leave_epoch, const std::function<void()>& poll) {
  check_process();
  std::unique_lock lock(mutex_);
  wake({std::exchange(held_, kNobody)});
  let_go(lock, poll);  // iterations that run ahead belong to the epoch that ends
  last_number_ = UINT64_MAX;
  if (skip_ > 0 && !parts_.empty()) delivered_states_ = parts_.front().states;
  parts_.clear();
  skip_ = resumed_ = 0;
  if (lists_) go_back();
  for (auto& [id, s] : sources_) {
    const auto delivered = delivered_states_.find(id);
    const bool some = delivered != delivered_states_.end();
    if (leave_epoch) s->begin_epoch(some ? delivered->second : std::string());
    else s->reset();
    s->next_number = -1;
    if (some && (leave_epoch || !s->meta())) delivered->second = s->state();
  }
}

bool Executor::makes_output(const Step& s) const {
  const bool all = s.kind == Step::Kind::stage &&
                   info_of(plan.graph.node(s.nodes[0])).family == Family::whole;  // it may have several
  return (s.kind == Step::Kind::stage || s.kind == Step::Kind::transfer || s.kind == Step::Kind::decode) &&
         std::any_of(plan.graph.outputs().begin(), plan.graph.outputs().end(), [&](const ValueRef& v) {
           return v == s.output || (all && v.node == s.output.node && v.place == s.output.place);
         });
}

int64_t Executor::device_bytes_in_use() const {
  size_t bytes = gpu_ ? gpu_->bytes_in_use() : 0;
  for (const auto& [step, decoder] : decoders_) bytes += decoder->bytes_in_use();
  return static_cast<int64_t>(bytes);
}

bool Executor::may_prepare(const Iteration& it, size_t position) {
  const Step& s = plan.steps[it.step];
  if (s.kind == Step::Kind::source ||
      s.kind == Step::Kind::call)  // sources are asked in order, functions called in order
    for (size_t i = 0; i < position; ++i)
      if (!queue_[i]->finished && (queue_[i]->step < it.step || (queue_[i]->step == it.step && !queue_[i]->prepared)))
        return false;
  const bool allocates = s.kind == Step::Kind::stage || s.kind == Step::Kind::transfer ||
                         s.kind == Step::Kind::decode ||
                         (s.kind == Step::Kind::source && get_op(graph.node(s.nodes[0]).op).loads_samples);
  if (!allocates || (position == 0 && consumer_waits_)) return true;
  if (options.memory_limit && position > 0 &&
      (pool ? pool->bytes_in_use() : 0) + static_cast<size_t>(device_bytes_in_use()) +
              (gpu_ ? gpu_->staging_bytes_in_use() : 0) >=
          options.memory_limit)
    return false;
  if (!makes_output(s) || rebatch_ > 0) return true;  // samples wait for a full batch
  std::lock_guard lock(slots_->mutex);
  // A decoder is fed as far ahead as it likes: gpu_is_full() says when that is enough.
  if (slots_->alive < (s.kind == Step::Kind::decode ? depth : std::max(1, options.prefetch)) + 1) return true;
  slots_->wanted = true;
  return false;
}

bool Executor::take_prepare(Task& task, size_t i) {
  auto& it = *queue_[i];
  if (it.preparing || it.waits) return false;
  if (gpu_is_full(it, i)) {
    starved_ = true;
    return false;
  }
  if (!may_prepare(it, i)) {
    starved_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (!it.blocked) it.blocked = true, it.blocked_since = now;
    const Step::Kind kind = plan.steps[it.step].kind;
    if (kind == Step::Kind::source || kind == Step::Kind::call || (options.memory_limit && i > 0) ||
        now - it.blocked_since < kHoldTime)
      return false;
  }
  it.blocked = false;
  it.preparing = true;
  if (plan.steps[it.step].gpu && !it.on_gpu) it.on_gpu = true, ++on_gpu_;
  task = {queue_[i], true, 0};
  return true;
}

// The first iteration goes first, but for a step that follows the one this thread has just made: what that wrote is in
// this core's caches.
bool Executor::find_task(Task& task, int lane, const Iteration* last) {
  if (last && !last->finished && !last->prepared && lane_of(last->step) == lane)
    for (size_t i = 0; i < queue_.size(); ++i)
      if (queue_[i].get() == last && take_prepare(task, i)) return true;
  for (size_t i = 0; i < queue_.size(); ++i) {
    auto& it = *queue_[i];
    if (it.finished) continue;
    if (!it.prepared) {
      if (lane_of(it.step) != lane || !take_prepare(task, i)) continue;
      return true;
    }
    if (it.next_item < it.items && lane == kAnyStep) {
      // Near the end one by one, so that all threads have work.
      const int64_t left = it.items - it.next_item;
      task = {queue_[i], false, it.next_item, left > int64_t{options.threads} * it.together ? it.together : 1};
      it.next_item += task.count;
      return true;
    }
  }
  return false;
}

void Executor::serve(int thread, int lane) {
  // Let go of without the mutex: it frees memory, which may call a GPU's library, whose own thread may wait for the
  // mutex.
  std::shared_ptr<Iteration> done;
  bool watches = false;
  const RemoteWait wait(stop_);
  std::condition_variable& work = lane == kAnyStep ? work_ : lane_work_[static_cast<size_t>(lane)];
  serving = {this, lane};
  std::unique_lock lock(mutex_);
  for (;;) {
    Task task;
    if (stop_) return;
    if (!find_task(task, lane, done.get())) {
      if (done) {
        lock.unlock();
        done.reset();
        lock.lock();
        continue;
      }
      if (starved_ && !slots_->wanted.exchange(true)) continue;  // memory may have been freed since it looked
      const bool blocked =
          std::any_of(queue_.begin(), queue_.end(), [](const auto& i) { return i->blocked && !i->finished; });
      if (lane == kAnyStep && crew_.has_work()) {
        lock.unlock();
        crew_.help();
        lock.lock();
        continue;
      }
      const int64_t begin = clock_ns();
      if (lane == kAnyStep) crew_.sleeps();
      if (blocked && !watched_ && lane == kAnyStep) {  // one thread looks now and then, the others sleep
        watched_ = true;
        work_.wait_for(lock, std::chrono::milliseconds(2));
        watched_ = false;
        watches = true;
      } else {
        work.wait(lock);
      }
      if (lane == kAnyStep) crew_.wakes();
      if (lane == kAnyStep) (blocked ? statistics.blocked(clock_ns() - begin) : statistics.idle(clock_ns() - begin));
      continue;
    }
    lock.unlock();
    if (std::exchange(watches, false)) work_.notify_one();  // another one looks
    done.reset();
    perform(task, thread, lock);
    done = std::move(task.iteration);
  }
}

void Executor::perform(Task& task, int thread, std::unique_lock<std::mutex>& lock) {
  Iteration& it = *task.iteration;
  bool step_done = false;
  try {
    if (task.prepare) prepare_or_fail(it, thread);
    else run_items(it, task.item, task.count, thread);
  } catch (...) {  // not even the error found memory
    it.no_memory = true;
  }
  lock.lock();
  if (task.prepare) {
    it.prepared = true;
    it.preparing = false;
    step_done = it.items == 0 || it.failure || it.no_memory || it.end_of_data;
    if (step_done) it.items = it.next_item = 0;
  } else {
    step_done = (it.done_items += task.count) == it.items;
  }
  if (step_done) {
    lock.unlock();
    try {
      finish_step(it, thread);
    } catch (...) {
      it.no_memory = true;
    }
    complete(task.iteration);
    lock.lock();
  } else if (task.prepare) {
    work_.notify_all();
  }
}

// What is waited for anyway, and by no function of the program: those have threads of their own.
bool Executor::runs_here(const Iteration& it) {
  const Step& s = plan.steps[it.step];
  if (it.finished || it.prepared || it.preparing || it.waits) return false;
  if (s.kind == Step::Kind::source) {
    const auto* fed = dynamic_cast<const ExternalSource*>(sources_.at(s.nodes[0]).get());
    return fed && fed->feed()->ready();
  }
  return lane_of(it.step) == kAnyStep && (s.kind == Step::Kind::stage || s.kind == Step::Kind::whole ||
                                          s.kind == Step::Kind::transfer || s.kind == Step::Kind::control);
}

// To wake a thread, and to be woken by it, takes longer than most steps that are not cut into items; and what one
// thread does alone stays in its caches.
Executor::Wake Executor::run_here(const std::shared_ptr<Iteration>& iteration) {
  const Iteration& it = *iteration;
  const std::unique_lock alone(consumer_, std::try_to_lock);
  const auto before = std::exchange(serving, {this, kConsumer});
  std::unique_lock lock(mutex_);
  while (alone && runs_here(it)) {
    Task task;
    const auto at = std::find(queue_.begin(), queue_.end(), iteration);
    if (at == queue_.end() || !take_prepare(task, static_cast<size_t>(at - queue_.begin()))) break;
    lock.unlock();
    perform(task, options.threads, lock);
  }
  serving = before;
  return {it.finished || it.prepared || it.preparing || it.waits ? kNobody : lane_of(it.step)};
}

bool Executor::ends(const Iteration& it) const {
  return it.failure || it.no_memory || it.end_of_data || (it.jump < 0 && it.step + 1 == plan.steps.size());
}

void Executor::wake(const Wake& w) {
  if (w.all) {
    work_.notify_all();
    for (auto& work : lane_work_) work.notify_all();
  } else if (w.lane != kNobody) {
    (w.lane == kAnyStep ? work_ : lane_work_[static_cast<size_t>(w.lane)]).notify_one();
  }
  if (w.consumer) ready_.notify_all();
}

void Executor::wake_for_room(Wake& w) { w.all |= std::exchange(starved_, false); }

Executor::Wake Executor::go_on(Iteration& it) {
  Wake w;
  if (ends(it)) {
    it.finished = true;
    w.consumer = true;
  } else {
    it.step = it.jump < 0 ? it.step + 1 : static_cast<size_t>(it.jump);
    it.jump = -1;
    it.prepared = false;
    it.items = it.next_item = it.done_items = 0;
    const int lane = lane_of(it.step);
    const bool here = serving.executor == this && (serving.lane == lane || serving.lane == kConsumer);
    if (!here) w.lane = lane;  // else this thread goes on by itself
  }
  wake_for_room(w);
  return w;
}

void Executor::complete(const std::shared_ptr<Iteration>& iteration) {
  Iteration& it = *iteration;
  if (hand_over(iteration)) return;
  const uint64_t number = it.number;
  const bool land = it.must_land && !it.failure && !it.no_memory;
  it.must_land = false;
  const bool left = ends(it) && it.on_gpu;
  std::shared_ptr<DeviceEvent> done;
  if (left)
    if (auto error = error_of([&] { done = leave_gpu(it); })) fail_iteration(it, std::move(*error), nullptr);
  Wake next;
  {
    std::lock_guard lock(mutex_);
    it.waits = land;
    if (left) it.on_gpu = false, leaving_.push_back({number, it.stream, std::move(done)});
    if (!land) next = go_on(it);
  }
  wake(next);
  if (left) look_for_room();
  if (!land) return;
  const auto passed = [this, number] {
    Wake next;
    {
      std::lock_guard lock(mutex_);
      for (auto& other : queue_)
        if (other->number == number) {
          other->waits = false;
          const Wake w = go_on(*other);
          next.lane = w.lane, next.all |= w.all, next.consumer |= w.consumer;
        }
    }
    wake(next);
  };
  if (auto error = error_of([&] { gpu_->notify(it.stream, passed); })) {
    fail_iteration(it, std::move(*error), nullptr);
    passed();
  }
}

void Executor::prepare_or_fail(Iteration& it, int thread) {
  const int64_t begin = clock_ns();
  try {
    prepare(it, thread);
  } catch (Error& e) {
    fail_iteration(it, e, &graph.node(plan.steps[it.step].nodes.back()));
  } catch (const std::bad_alloc&) {
    fail_iteration(it, Error(ErrorKind::out_of_memory, "out of memory"), nullptr);
  } catch (const std::exception& e) {
    fail_iteration(it, Error(ErrorKind::internal, e.what()), nullptr);
  }
  const int enqueued = plan.steps[it.step].gpu && it.items == 0 ? it.size : 0;
  statistics.add(thread, static_cast<int>(it.step), it.number, begin, clock_ns(), enqueued, 0, 0, 0);
}

void Executor::fail_iteration(Iteration& it, Error e, const Node* n) {
  if (n) {
    if (e.op.empty()) e.op = n->op;
    if (e.user_line.empty()) e.user_line = n->user_line;
  }
  it.failure = std::make_unique<Error>(std::move(e));
}

}  // namespace penstock
