// SPDX-License-Identifier: Apache-2.0
// How an iteration goes through the steps of a plan: what the scheduler asks the executor.
#include <algorithm>
#include <utility>

#include "base/error_of.h"
#include "exec/executor.h"
#include "exec/log_steps.h"
#include "exec/steps/frames.h"

namespace penstock {
namespace {

Iteration& of(Job& job) { return static_cast<Iteration&>(job); }

bool has_failed(const Iteration& it) { return it.failure || it.no_memory || it.end_of_data; }

}  // namespace

void Executor::set_step(Job& job, size_t step) const {
  job.step = step;
  job.lane = lanes_[step];
  job.in_order = steps_[step]->rules.in_order;
}

void Executor::begins(Job& job) {
  set_step(job, 0);
  if (gpu_) of(job).stream = gpu_->stream(job.number);
}

bool Executor::ends(const Iteration& it) const {
  return has_failed(it) || (it.jump < 0 && it.step + 1 == steps_.size());
}

bool Executor::next_step(Job& job) {
  Iteration& it = of(job);
  if (ends(it)) return false;
  set_step(job, it.jump < 0 ? it.step + 1 : static_cast<size_t>(it.jump));
  it.jump = -1;
  return true;
}

Room Executor::room_for(const Job& job, size_t position, bool wanted) {
  const StepRunner& step = current(job);
  const StepRules& rules = step.rules;
  const auto prefetch = static_cast<size_t>(std::max(1, options.prefetch));
  if (step.step.gpu && !static_cast<const Iteration&>(job).on_gpu &&
      gpu_room_->is_full(rules.fed_ahead && position >= prefetch))
    return Room::full;
  if (!rules.allocates || wanted) return Room::yes;
  const Room refused = rules.in_order || (options.memory_limit && position > 0) ? Room::later : Room::soon;
  if (options.memory_limit && position > 0 && bytes_in_use() >= options.memory_limit) return refused;
  if (!rules.makes_output || rebatch_ > 0) return Room::yes;  // samples wait for a full batch
  // A decoder is fed as far ahead as it likes: GpuRoom says when that is enough.
  return outputs_.has_room((rules.fed_ahead ? depth : static_cast<int>(prefetch)) + 1) ? Room::yes : refused;
}

size_t Executor::bytes_in_use() const {
  return (pool ? pool->bytes_in_use() : 0) + static_cast<size_t>(device_bytes_in_use()) +
         (gpu_ ? gpu_->staging_bytes_in_use() : 0);
}

void Executor::taken(Job& job) {
  if (current(job).step.gpu) gpu_room_->enter(of(job));
}

// Not a function of the program: those have threads of their own. A source may have what was fed to it.
bool Executor::runs_here(const Job& job) const {
  const StepRunner& step = current(job);
  return step.ready() && (step.rules.brings_samples || job.lane == kAnyStep);
}

void Executor::slept(int64_t ns, bool blocked) { blocked ? statistics.blocked(ns) : statistics.idle(ns); }

void Executor::prepare_step(Iteration& it, int thread) {
  StepRunner& step = current(it);
  it.step_state = nullptr;
  it.items = 0;
  it.together = 1;
  use_domain(it, step.step.domain);
  if (logs_steps_) log_step(*context_, it, step);
  step.prepare(it, workers_[static_cast<size_t>(thread)]);
}

void Executor::prepare_or_fail(Iteration& it, int thread) {
  const Step& s = plan.steps[it.step];
  const int64_t begin = clock_ns();
  try {
    prepare_step(it, thread);
  } catch (Error& e) {
    fail_iteration(it, e, &graph.node(s.nodes.back()));
  } catch (const std::bad_alloc&) {
    fail_iteration(it, Error(ErrorKind::out_of_memory, "out of memory"), nullptr);
  } catch (const std::exception& e) {
    fail_iteration(it, Error(ErrorKind::internal, e.what()), nullptr);
  }
  const int enqueued = s.gpu && it.items == 0 ? it.size : 0;
  statistics.add(thread, static_cast<int>(it.step), it.number, begin, clock_ns(), enqueued, 0, 0, 0);
}

void Executor::prepare(Job& job, int thread) {
  Iteration& it = of(job);
  try {
    prepare_or_fail(it, thread);
  } catch (...) {  // not even the error found memory
    it.no_memory = true;
  }
  if (has_failed(it)) it.items = 0;
}

void Executor::run_samples(Iteration& it, int first, int count, int thread) {
  StepRunner& step = current(it);
  Worker& w = workers_[static_cast<size_t>(thread)];
  const CrewMember member(&scheduler_.crew());
  const int64_t begin = clock_ns();
  w.read_ns = 0;
  w.scratch->times = {};
  if (auto error = error_of([&] { step.run(it, first, count, w); })) step.add_error(it, first, std::move(*error));
  statistics.add(thread, static_cast<int>(it.step), it.number, begin, clock_ns(), count, w.read_ns,
                 w.scratch->times.decode_ns, w.scratch->times.pixels_ns);
}

void Executor::run(Job& job, int64_t first, int count, int thread) {
  try {
    run_samples(of(job), static_cast<int>(first), count, thread);
  } catch (...) {
    of(job).no_memory = true;
  }
}

void Executor::settle_errors(Iteration& it, int thread) {
  StepRunner& step = current(it);
  try {
    step.begin_settling(it);
    errors_->settle(it, step, [&](int sample) { run_samples(it, sample, 1, thread); });
  } catch (Error& e) {
    fail_iteration(it, e, nullptr);
  }
}

void Executor::finish(const std::shared_ptr<Job>& job, int thread) {
  try {
    finish_step(of(*job), thread);
  } catch (...) {
    of(*job).no_memory = true;
  }
  complete(std::static_pointer_cast<Iteration>(job));
}

void Executor::finish_step(Iteration& it, int thread) {
  StepRunner& step = current(it);
  if (auto error = error_of([&] { step.finish(it); })) fail_iteration(it, std::move(*error), &step.node);
  if (!it.errors.empty() && !it.failure) {
    settle_errors(it, thread);
    if (it.jump == 0) return;  // begins again
  }
  bool handed = false;
  if (auto error = error_of([&] { handed = step.settled(it); })) fail_iteration(it, std::move(*error), &step.node);
  if (handed && !it.failure) return;
  if (logs_steps_) log_sizes(*context_, it, step.step);
  release_values(it);
}

void Executor::release_values(Iteration& it) {
  for (const auto& [value, step] : plan.value_last_use)
    if (step == static_cast<int>(it.step)) it.values.at(value) = Batch();
  it.step_state = nullptr;
}

void Executor::step_done(const std::shared_ptr<Iteration>& it) {
  release_values(*it);
  complete(it);
}

// The step: the iteration goes on, at once or when the device is there.
void Executor::complete(const std::shared_ptr<Iteration>& iteration) {
  Iteration& it = *iteration;
  if (current(it).hand_over(iteration)) return;
  const bool land = std::exchange(it.must_land, false) && !it.failure && !it.no_memory;
  const bool left = ends(it) && it.on_gpu;
  if (left) gpu_room_->leave(it, plan);
  if (land) scheduler_.hold(it);
  else scheduler_.go_on(it);
  if (left) gpu_room_->look();
  if (!land) return;
  // An iteration stays in the queue until it is finished.
  const auto passed = [this, weak = std::weak_ptr(iteration)] {
    if (const auto waiting = weak.lock()) scheduler_.go_on(*waiting);
  };
  if (auto error = error_of([&] { gpu_->notify(it.stream, passed); })) {
    fail_iteration(it, std::move(*error), nullptr);
    passed();
  }
}

}  // namespace penstock
