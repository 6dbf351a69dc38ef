// SPDX-License-Identifier: Apache-2.0
#include "exec/scheduler.h"

#include <utility>

#include "base/clock.h"
#include "data/remote.h"

namespace penstock {

constinit thread_local Served Scheduler::serving;

Scheduler::Scheduler(JobWork& work, int threads, int working)
    : work_(work), queue_(work, threads), crew([this] {
        {
          std::lock_guard lock(mutex_);
        }  // who has found no task sleeps by now
        threads_.wake_any();
      }) {
  threads_.reserve.begin(working);
}

void Scheduler::begin_thread(int number, int lane) {
  threads_.begin(lane, [this, number, lane] { serve(number, lane); });
}

bool Scheduler::add(std::shared_ptr<Job> job, bool soon, size_t most) {
  Wake first, before;
  {
    std::lock_guard lock(mutex_);
    if (queue_.jobs.size() >= most) return false;
    if (!job->has_number) job->number = queue_.next_number++;
    work_.begins(*job);
    before.lane = std::exchange(queue_.held, kNobody);
    first.lane = job->lane;
    if (soon && queue_.jobs.empty()) std::swap(queue_.held, first.lane);
    queue_.add(std::move(job));
  }
  threads_.wake(before);
  threads_.wake(first);
  return true;
}

void Scheduler::add_made(std::vector<std::shared_ptr<Job>> jobs) {
  {
    std::lock_guard lock(mutex_);
    for (auto& job : jobs) {
      if (!job->finished) work_.begins(*job);
      queue_.add(std::move(job));
    }
  }
  threads_.wake({kAnyStep, true, true});
}

size_t Scheduler::size() const {
  std::lock_guard lock(mutex_);
  return queue_.jobs.size();
}

uint64_t Scheduler::next_number() const {
  std::lock_guard lock(mutex_);
  return queue_.next_number;
}

void Scheduler::hold(Job& job) {
  std::lock_guard lock(mutex_);
  job.waits = true;
}

void Scheduler::go_on(Job& job) {
  Wake w;
  {
    std::lock_guard lock(mutex_);
    job.waits = false;
    w = advance(job);
  }
  threads_.wake(w);
}

void Scheduler::run_items(Job& job, int64_t n) {
  {
    std::lock_guard lock(mutex_);
    job.items = n;
    job.together = 1;
    job.next_item = job.done_items = 0;
    job.waits = false;
  }
  threads_.wake_any();
  if (steps()) threads_.wake({.consumer = true});
}

void Scheduler::made_room() {
  Wake w;
  {
    std::lock_guard lock(mutex_);
    w = {.all = queue_.was_starved(), .consumer = steps()};
  }
  threads_.wake(w);
}

void Scheduler::look_again(int awake) {
  if (awake > 0) {
    std::lock_guard lock(mutex_);
    threads_.reserve.keep_awake(awake);
  }
  threads_.wake_any();  // those that may not work any more leave the others' queue of sleepers
  if (awake > 0) threads_.wake_reserve();
}

void Scheduler::ask_to_stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  threads_.wake({kNobody, true});
  threads_.wake_reserve();
}

void Scheduler::stop() {
  ask_to_stop();
  threads_.join();
}

Wake Scheduler::advance(Job& job) {
  Wake w{.all = queue_.was_starved(), .consumer = steps()};  // without threads, it has to know of all that happens
  job.prepared = false;
  job.items = job.next_item = job.done_items = 0;
  if (!work_.next_step(job)) {
    job.finished = true;
    if (job.leaves) queue_.leave(job);
    w.consumer = true;
    return w;
  }
  const bool here = serving.scheduler == this && (serving.lane == job.lane || serving.lane == kConsumer);
  if (!here) w.lane = job.lane;  // else this thread goes on by itself
  return w;
}

void Scheduler::sleep(int number, int lane, bool& watches, std::unique_lock<std::mutex>& lock) {
  if (lane != kAnyStep) return threads_.sleep(lane, lock);
  if (!threads_.may_work(number, lane)) {
    watches = false;
    if (!threads_.reserve.is_awake(number)) threads_.wake_any();  // one goes on with what this thread has left
    return threads_.sleep_in_reserve(lock);
  }
  const bool blocked = queue_.any_blocked();
  const int64_t begin = clock_ns();
  crew.sleeps();
  if (blocked) watches = threads_.watch(lock);
  else threads_.sleep(lane, lock);
  crew.wakes();
  work_.slept(clock_ns() - begin, blocked, number);
}

void Scheduler::serve(int number, int lane) {
  // Released without the mutex: that frees memory, which may call a GPU's library, whose own thread may wait for the
  // mutex.
  std::shared_ptr<Job> done;
  bool watches = false;
  const RemoteWait wait(stop_);
  serving = {this, lane};
  std::unique_lock lock(mutex_);
  while (!stop_) {
    Task task;
    const bool works = threads_.may_work(number, lane);
    if (works && queue_.find(task, lane, done.get())) {
      const bool counts = lane == kAnyStep && threads_.reserve.is_kept();
      if (counts) threads_.reserve.begins(number, task.job->step, task.count, clock_ns());
      lock.unlock();
      if (std::exchange(watches, false)) threads_.wake_another();
      done.reset();
      perform(task, number, lock);
      if (counts) threads_.reserve.ends(number, clock_ns());
      if (threads_.reserve.finds_late()) threads_.wake_reserve();
      done = std::move(task.job);
    } else if (done) {
      lock.unlock();
      done.reset();
      lock.lock();
    } else if (works && queue_.starved && work_.ask_for_room()) {
      continue;  // there may be room since it looked
    } else if (works && lane == kAnyStep && crew.has_work()) {
      lock.unlock();
      crew.help();
      lock.lock();
    } else {
      sleep(number, lane, watches, lock);
    }
  }
}

void Scheduler::perform(const Task& task, int number, std::unique_lock<std::mutex>& lock) {
  Job& job = *task.job;
  if (task.prepare) work_.prepare(job, number);
  else work_.run(job, task.item, task.count, number);
  lock.lock();
  bool step_done;
  if (task.prepare) {
    job.prepared = true;
    job.preparing = false;
    job.next_item = 0;
    step_done = job.items == 0;
  } else {
    step_done = (job.done_items += task.count) == job.items;
  }
  if (step_done) {
    lock.unlock();
    work_.finish(task.job, number);
    lock.lock();
  } else if (task.prepare) {
    threads_.wake_any();
  }
}

}  // namespace penstock
