// SPDX-License-Identifier: Apache-2.0
#include "exec/statistics.h"

#include <algorithm>
#include <utility>

#include "base/thread_pool.h"
#include "exec/scheduler.h"

namespace penstock {
namespace {

constexpr size_t kMostEvents = 200000;  // per thread: about 20 MB

StepStatistics step_of(const Plan& plan, const Step& s) {
  StepStatistics made;
  made.name = s.kind == Step::Kind::read ? "read" : "";
  for (int id : s.nodes) made.name += (made.name.empty() ? "" : " + ") + plan.graph.node(id).op;
  if (s.kind == Step::Kind::transfer) made.name += s.gpu ? " to the GPU" : " to the CPU";
  const Node& last = plan.graph.node(s.nodes.back());
  made.nodes = s.nodes;
  made.user_line = last.user_line;
  made.source = s.kind == Step::Kind::source;
  made.fits_all = fits_all(last);
  return made;
}

template <class T> T& made(std::unique_ptr<T>& p) {
  if (!p) p = std::make_unique<T>();
  return *p;
}

void count_samples(DurationCounts& counts, const StepWork& w) {
  const int64_t ns = w.end_ns - w.begin_ns;
  if (w.shares.empty()) return counts.add(ns / w.samples, w.samples);
  for (const double share : w.shares) counts.add(static_cast<int64_t>(share * static_cast<double>(ns)));
}

}  // namespace

Statistics::Statistics(const Plan& plan, int threads)
    : threads_(threads), copied_(plan.steps.size()), cached_(plan.steps.size()) {
  for (const auto& s : plan.steps) steps_.push_back(step_of(plan, s));
  for (int i = 0; i < threads; ++i) new_counters("thread " + std::to_string(i));
  new_counters("the loop");
  new_counters("decoder of the GPU");
}

Statistics::ThreadCounters& Statistics::new_counters(std::string name) {
  counters_.push_back(std::make_unique<ThreadCounters>());
  counters_.back()->name = std::move(name);
  counters_.back()->steps.resize(steps_.size());
  return *counters_.back();
}

void Statistics::add_lane(int, size_t step) {
  new_counters(steps_[step].name);
  steps_[step].calls = true;
}

// A scheduler numbers its threads; the loop and the threads of lanes share the last number.
Statistics::ThreadCounters& Statistics::of(int thread) {
  if (thread < threads_) return *counters_[static_cast<size_t>(thread)];
  const auto at = static_cast<size_t>(threads_);
  if (!Scheduler::serving.scheduler) return *counters_[at + 1];
  const int lane = Scheduler::serving.lane;
  return *counters_[lane < 0 ? at : at + 2 + static_cast<size_t>(lane)];
}

int64_t Statistics::add(const StepWork& w) {
  ThreadCounters& l = of(w.thread);
  std::lock_guard lock(l.mutex);
  if (!l.id) l.id = system_id_of_thread();
  auto& s = l.steps[static_cast<size_t>(w.step)];
  const int64_t ns = w.end_ns - w.begin_ns;
  l.busy_ns += ns;
  s.sums.busy_ns += ns, s.sums.samples += w.samples;
  s.sums.read_ns += w.reads.ns, s.sums.decode_ns += w.decode_ns, s.sums.pixels_ns += w.pixels_ns;
  s.sums.lock_ns += w.lock_ns, s.sums.reads += w.reads;
  if (w.samples > 0) count_samples(made(s.each), w);
  if (w.whole_batch) made(s.batches).add(ns);
  return s.sums.slowest.least();
}

void Statistics::add_slow(int thread, int step, SlowSample sample) {
  ThreadCounters& l = of(thread);
  std::lock_guard lock(l.mutex);
  l.steps[static_cast<size_t>(step)].sums.slowest.add(std::move(sample));
}

void Statistics::add_event(int thread, TraceEvent event) {
  ThreadCounters& l = of(thread);
  std::lock_guard lock(l.mutex);
  if (l.events.size() < kMostEvents) l.events.push_back(std::move(event));
}

void Statistics::batch_of(int thread, size_t step, int64_t ns, int64_t moved_bytes) {
  ThreadCounters& l = of(thread);
  std::lock_guard lock(l.mutex);
  made(l.steps[step].batches).add(ns);
  l.steps[step].sums.moved_bytes += moved_bytes;
}

void Statistics::cached(size_t step, const CachedCounts& counts) {
  std::lock_guard lock(cached_mutex_);
  cached_[step] = counts;
}

void Statistics::slept(int thread, int64_t ns, bool blocked) {
  {
    ThreadCounters& l = of(thread);
    std::lock_guard lock(l.mutex);
    if (!l.id) l.id = system_id_of_thread();
    (blocked ? l.blocked_ns : l.idle_ns) += ns;
  }
  if (!traces()) return;
  const int64_t now = clock_ns();
  add_event(
      thread,
      {.kind = blocked ? TraceKind::waits_for_room : TraceKind::waits_for_work, .begin_ns = now - ns, .end_ns = now});
}

void Statistics::waited(int64_t begin, int64_t end, size_t ready) {
  loop_.waited(begin, end, ready);
  if (!traces()) return;
  ThreadCounters& loop = *counters_[static_cast<size_t>(threads_)];
  std::lock_guard events(loop.mutex);
  if (loop.events.size() < kMostEvents)
    loop.events.push_back(
        {.kind = TraceKind::waits_for_batch, .iteration = loop_.iterations(), .begin_ns = begin, .end_ns = end});
}

void Statistics::add_to(StepStatistics& sum, const StepCounts& part) const {
  const auto& s = part.sums;
  sum.busy_ns += s.busy_ns, sum.samples += s.samples;
  sum.read_ns += s.read_ns, sum.decode_ns += s.decode_ns, sum.pixels_ns += s.pixels_ns;
  sum.lock_ns += s.lock_ns, sum.moved_bytes += s.moved_bytes, sum.reads += s.reads;
  if (part.each) sum.each.add(*part.each);
  if (part.batches) sum.batches.add(*part.batches);
  for (const SlowSample& slow : s.slowest.all()) sum.slowest.add(slow);
}

PipelineStatistics Statistics::summary() const {
  PipelineStatistics p;
  loop_.show(p);
  p.threads = threads_, p.cores = usable_cores();
  p.steps = steps_;
  for (size_t i = 0; i < steps_.size(); ++i) p.steps[i].copied_bytes = copied_[i];
  {
    std::lock_guard lock(cached_mutex_);
    for (size_t i = 0; i < steps_.size(); ++i) p.steps[i].cached = cached_[i];
  }
  for (size_t t = 0; t < counters_.size(); ++t) {
    const ThreadCounters& l = *counters_[t];
    std::lock_guard lock(l.mutex);
    for (size_t i = 0; i < steps_.size(); ++i) add_to(p.steps[i], l.steps[i]);
    p.worker_idle_ns += l.idle_ns, p.blocked_ns += l.blocked_ns;
    if (!l.id) continue;
    p.by_thread.push_back(
        {l.name, t < static_cast<size_t>(threads_), l.busy_ns, l.idle_ns, l.blocked_ns, times_of_thread(l.id)});
  }
  return p;
}

std::string Statistics::trace_json() const {
  std::vector<std::string> names;
  for (const auto& s : steps_) names.push_back(s.name);
  std::vector<TraceRow> rows;
  for (const auto& l : counters_) {
    std::lock_guard lock(l->mutex);
    rows.push_back({l->name, l->events});
  }
  return trace_text(rows, names);
}

}  // namespace penstock
