// SPDX-License-Identifier: Apache-2.0
#include "exec/iteration_runner.h"

#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "exec/count_work.h"
#include "exec/log_steps.h"
#include "exec/steps/frames.h"
#include "graph/at_fault.h"

namespace penstock {
namespace {

Iteration& of(Job& job) { return static_cast<Iteration&>(job); }

// Those that no later step reads.
void release_values(const Plan& plan, Iteration& it, size_t last, const LateSamples* late) {
  const bool of_samples = it.late && it.late->kind != LatePart::Kind::batch;
  for (const auto& [value, step] : plan.value_last_use)
    if (step == static_cast<int>(last) && !(of_samples && late->keeps(value))) it.values.at(value) = Batch();
}

bool has_failed(const Iteration& it) { return it.failure || it.no_memory || it.end_of_data; }

// What the current step was the last to read. Where somebody looks at each step, its values stay until then.
void let_go(const StepContext& c, Iteration& it) {
  it.step_state = nullptr;
  if (c.after_step && !has_failed(it)) it.done_step = static_cast<int>(it.step);
  else release_values(c.plan, it, it.step, c.late);
}

void set_step(Job& job, size_t number, const StepRunner& step) {
  job.step = number;
  job.lane = step.lane, job.in_order = step.rules.in_order && !job.unordered;
}

// The step after the current one; the number of steps: there is none.
size_t next_of(const LateSamples* late, const Iteration& it) {
  if (!it.late) return it.jump < 0 ? it.step + 1 : static_cast<size_t>(it.jump);
  return late->next(it, it.jump < 0 ? it.step : static_cast<size_t>(it.jump) - 1);
}

// With its current step.
bool ends(const StepContext& c, const Iteration& it) {
  return has_failed(it) || next_of(c.late, it) == c.plan.steps.size();
}

bool gathers(const Iteration& it) { return it.late && it.late->gathering; }
bool brings(const Iteration& it) { return it.late && it.late->kind == LatePart::Kind::bringing; }

}  // namespace

void IterationRunner::begin(Scheduler& scheduler) {
  context_.hand_over = this;
  steps_ = make_steps(context_);
  admission.steps = steps_;
  errors_ = std::make_unique<ErrorPolicy>(context_, steps_);
  scheduler_ = &scheduler;
  if (scheduler.steps()) return;
  const int threads = context_.options.threads_made();
  for (auto& step : steps_)  // those that wait for the program have threads of their own
    if (step->rules.own_threads > 0) {
      step->lane = scheduler.add_lane();
      context_.statistics.add_lane(step->lane, static_cast<size_t>(&step - steps_.data()));
    }
  for (int i = 0; i < threads; ++i) scheduler.begin_thread(i, kAnyStep);
  for (auto& step : steps_)
    for (int k = 0; k < step->rules.own_threads; ++k) scheduler.begin_thread(threads, step->lane);
}

void IterationRunner::end_steps() {
  admission.steps = {};
  steps_.clear();
}

const Node* IterationRunner::starving(const Job& job) const {
  if (job.finished || job.prepared || !current(job).starves(scheduler_->steps())) return nullptr;
  if (context_.late && !brings(static_cast<const Iteration&>(job))) return nullptr;
  return &context_.graph.node(current(job).node.id);
}

void IterationRunner::begins(Job& job) {
  Iteration& it = of(job);
  const auto first = it.late ? context_.late->begin(it) : static_cast<size_t>(std::max(0, std::exchange(it.jump, -1)));
  set_step(job, first, *steps_[first]);
  it.first_ns = clock_ns();
  if (gathers(it)) job.lane = kAnyStep, job.in_order = false;
  if (context_.gpu) of(job).stream = context_.gpu->stream(job.number);
}

bool IterationRunner::next_step(Job& job) {
  Iteration& it = of(job);
  if (ends(context_, it)) return false;
  const size_t next = next_of(context_.late, it);
  set_step(job, next, *steps_[next]);
  it.jump = -1;
  if (it.late) it.late->gathering = false;
  return true;
}

Room IterationRunner::room_for(const Job& job, size_t position, bool wanted) {
  return admission.room_for(static_cast<const Iteration&>(job), current(job), position, wanted);
}

// It ends as those do that have no memory: without settling what it has done.
bool IterationRunner::abandon(Job& job) {
  of(job).no_memory = true;
  return !of(job).on_gpu;
}

void IterationRunner::taken(Job& job) { admission.enter(of(job), current(job)); }

// Not a function of the program: those have threads of their own. A source may have what was fed to it.
bool IterationRunner::runs_here(const Job& job) const {
  const StepRunner& step = current(job);
  return step.ready() && (step.rules.brings_samples || job.lane == kAnyStep);
}

void IterationRunner::prepare_or_fail(Iteration& it, int thread) {
  StepRunner& step = current(it);
  const int64_t begin = clock_ns();
  const ReadTally reads = reads_of_thread();
  const int64_t lock_ns = lock_wait_ns();
  it.step_state = nullptr;
  it.began_ns = begin;
  it.items = 0;
  it.together = 1;
  try {
    if (gathers(it)) {
      context_.late->gathered().prepare(it);
    } else if (brings(it) && !step.rules.brings_samples) {
      context_.fill_batch(it);
    } else {
      use_domain(it, step.step.domain);
      if (context_.logs_steps) log_step(context_, it, step);
      const CrewMember member(&scheduler_->crew);
      step.prepare(it, workers[static_cast<size_t>(thread)]);
    }
  } catch (Error& e) {
    fail_iteration(it, e, &at_fault(context_.graph, step.step.nodes, e));
  } catch (const std::bad_alloc&) {
    fail_iteration(it, Error(ErrorKind::out_of_memory, "out of memory"), nullptr);
  } catch (const std::exception& e) {
    fail_iteration(it, Error(ErrorKind::internal, e.what()), nullptr);
  }
  // Samples of a step that threads share are counted where they run, but not those of a function of the program.
  const bool counts = it.items == 0 || step.rules.own_threads > 0;
  count_work(context_, it, -1,
             {.thread = thread,
              .begin_ns = begin,
              .end_ns = clock_ns(),
              .samples = counts ? it.size : 0,
              .reads = reads_of_thread() - reads,
              .lock_ns = lock_wait_ns() - lock_ns,
              .whole_batch = it.items == 0});
}

void IterationRunner::prepare(Job& job, int thread) {
  Iteration& it = of(job);
  try {
    prepare_or_fail(it, thread);
  } catch (...) {  // not even the error found memory
    it.no_memory = true;
  }
  if (has_failed(it)) it.items = 0;
}

void IterationRunner::run_samples(Iteration& it, int first, int count, int thread) {
  StepRunner& step = current(it);
  Worker& w = workers[static_cast<size_t>(thread)];
  const CrewMember member(&scheduler_->crew);
  const int64_t begin = clock_ns();
  const ReadTally reads = reads_of_thread();
  w.weights = {};
  w.scratch->times = {};
  const auto run = [&] {
    gathers(it) ? context_.late->gathered().run(it, first, count) : step.run(it, first, count, w);
  };
  if (auto error = error_of(run)) step.add_error(it, first, std::move(*error));
  const auto shares = w.shares(count);
  count_work(context_, it, first,
             {.thread = thread,
              .begin_ns = begin,
              .end_ns = clock_ns(),
              .samples = gathers(it) || step.rules.own_threads > 0 ? 0 : count,
              .shares = std::span(shares.data(), count == 2 ? 2 : 0),
              .reads = reads_of_thread() - reads,
              .decode_ns = w.scratch->times.decode_ns,
              .pixels_ns = w.scratch->times.pixels_ns});
}

void IterationRunner::run(Job& job, int64_t first, int count, int thread) {
  try {
    run_samples(of(job), static_cast<int>(first), count, thread);
  } catch (...) {
    of(job).no_memory = true;
  }
}

void IterationRunner::finish(const std::shared_ptr<Job>& job, int thread) {
  try {
    finish_step(of(*job), thread);
  } catch (...) {
    of(*job).no_memory = true;
  }
  complete(std::static_pointer_cast<Iteration>(job));
}

void IterationRunner::finish_step(Iteration& it, int thread) {
  if (it.no_memory) return let_go(context_, it);  // its items may not be complete
  StepRunner& step = current(it);
  if (gathers(it)) return GatheredSamples::finish(it);
  if (brings(it) && !step.rules.brings_samples) return;
  if (auto error = error_of([&] { step.finish(it); })) fail_iteration(it, std::move(*error), &step.node);
  if (!brings(it)) count_batch(context_, it, step, thread);
  if (!it.errors.empty() && !it.failure) {
    errors_->settle(it, step, [&](int sample) { run_samples(it, sample, 1, thread); });
    if (it.jump == 0) return;  // begins again
  }
  bool handed = false;
  if (auto error = error_of([&] { handed = step.settled(it); })) fail_iteration(it, std::move(*error), &step.node);
  if (handed && !it.failure) return;
  if (context_.logs_steps) log_sizes(context_, it, step.step);
  let_go(context_, it);
}

void IterationRunner::step_done(const std::shared_ptr<Iteration>& it) {
  let_go(context_, *it);
  complete(it);
}

void IterationRunner::stepped(Job& job) {
  Iteration& it = of(job);
  const int done = std::exchange(it.done_step, -1);
  if (done < 0) return;
  const SteppedStep seen = stepped_step(context_.plan, it, static_cast<size_t>(done));
  release_values(context_.plan, it, static_cast<size_t>(done), context_.late);
  context_.after_step(seen);
}

// The step: the iteration goes on, at once or when the device is there.
void IterationRunner::complete(const std::shared_ptr<Iteration>& iteration) {
  Iteration& it = *iteration;
  if (!gathers(it) && current(it).hand_over(iteration)) return;
  const bool land = std::exchange(it.must_land, false) && !it.failure && !it.no_memory;
  const bool left = ends(context_, it) && it.on_gpu;
  if (!it.late && ends(context_, it) && !has_failed(it))
    context_.statistics.loop().batch_done(clock_ns() - it.first_ns);
  if (left) admission.leave(it);
  if (it.late && it.late->kind != LatePart::Kind::batch && ends(context_, it))
    context_.late->ended(iteration, *scheduler_);
  if (land) scheduler_->hold(it);
  else scheduler_->go_on(it);
  if (left) admission.look();
  if (!land) return;
  // An iteration stays in the queue until it is finished.
  const auto passed = [this, weak = std::weak_ptr(iteration)] {
    if (const auto waiting = weak.lock()) scheduler_->go_on(*waiting);
  };
  if (auto error = error_of([&] { context_.gpu->notify(it.stream, passed); })) {
    fail_iteration(it, std::move(*error), nullptr);
    passed();
  }
}

}  // namespace penstock
