// SPDX-License-Identifier: Apache-2.0
#include "exec/job_consumer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"

namespace penstock {
namespace {

// While it lives, somebody waits for the first job.
class Consuming {
 public:
  Consuming(bool& consumed, std::unique_lock<std::mutex>& lock) : consumed_(consumed), lock_(lock) { consumed_ = true; }
  ~Consuming() {
    if (!lock_.owns_lock()) lock_.lock();
    consumed_ = false;
  }
  Consuming(const Consuming&) = delete;
  Consuming& operator=(const Consuming&) = delete;

 private:
  bool& consumed_;
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace

void JobConsumer::check_caller() const {
  const auto& serving = Scheduler::serving;
  for (const Scheduler* s = serving.lane == kConsumer ? nullptr : serving.scheduler; s; s = s->waits_in_)
    if (s == &scheduler_)
      bad_argument(
          "a function that this pipeline calls (a source or a python_function) uses the pipeline itself: it would "
          "wait for itself");
}

void JobConsumer::wait(std::unique_lock<std::mutex>& lock, const Poll& poll, const std::function<bool()>& done) {
  auto& waits_in = scheduler_.waits_in_;
  waits_in = Scheduler::serving.lane == kConsumer ? nullptr : Scheduler::serving.scheduler;
  struct Leave {
    std::atomic<const Scheduler*>& waits_in;
    ~Leave() { waits_in = nullptr; }
  } leave{waits_in};
  constexpr auto kPollTime = std::chrono::milliseconds(50);
  auto polled = std::chrono::steady_clock::now();
  const auto ended = [&] {
    if (stepping_) stepping_->tell(lock);
    return done();
  };
  while (!ended()) {
    if (!stepping_ || !stepping_->advance(lock)) scheduler_.threads_.consumers().wait_for(lock, kPollTime);
    else if (std::chrono::steady_clock::now() - polled < kPollTime) continue;
    polled = std::chrono::steady_clock::now();
    if (scheduler_.threads_.reserve.finds_late()) scheduler_.threads_.wake_reserve();
    if (!poll || done()) continue;
    lock.unlock();
    poll();
    lock.lock();
  }
}

// To wake a thread, and to be woken by it, takes longer than most steps that are not cut into items; and what one
// thread does alone stays in its caches.
Wake JobConsumer::run_here(const std::shared_ptr<Job>& job) {
  const auto idle = [&] { return !job->finished && !job->prepared && !job->preparing && !job->waits; };
  const std::unique_lock alone(alone_, std::try_to_lock);
  const auto before = std::exchange(Scheduler::serving, Served{&scheduler_, kConsumer});
  std::unique_lock lock(scheduler_.mutex_);
  Task task;
  while (alone && !stepping_ && idle() && scheduler_.work_.runs_here(*job) &&
         scheduler_.queue_.take_prepare(task, job)) {
    lock.unlock();
    scheduler_.perform(task, thread_, lock);
  }
  Scheduler::serving = before;
  return {idle() ? job->lane : kNobody};
}

std::shared_ptr<Job> JobConsumer::take(const Poll& poll, const Check& check) {
  auto& jobs = scheduler_.queue_.jobs;
  std::unique_lock lock(scheduler_.mutex_);
  const Consuming consuming(scheduler_.queue_.consumed, lock);
  found_ready_ = static_cast<size_t>(std::count_if(jobs.begin(), jobs.end(), [](auto& job) { return job->finished; }));
  scheduler_.threads_.wake({.all = scheduler_.queue_.was_starved()});
  if (std::exchange(scheduler_.queue_.held, kNobody) != kNobody) {
    const auto front = jobs.front();
    lock.unlock();
    scheduler_.threads_.wake(run_here(front));
    lock.lock();
  }
  wait(lock, poll, [&] {
    if (jobs.empty()) return true;
    check(jobs);
    return jobs.front()->finished;
  });
  if (jobs.empty()) return nullptr;
  std::shared_ptr<Job> job = std::move(jobs.front());
  jobs.pop_front();
  return job;
}

void JobConsumer::drop_finished(const Poll& poll) {
  std::deque<std::shared_ptr<Job>> gone;  // freed without the mutex
  std::unique_lock lock(scheduler_.mutex_);
  wait(lock, poll, [&] { return scheduler_.queue_.all_finished(); });
  gone.swap(scheduler_.queue_.jobs);
  lock.unlock();
}

// The first one at once, so that those after it get its memory where there is a limit.
void JobConsumer::drop_all(const Poll& poll) {
  auto& jobs = scheduler_.queue_.jobs;
  std::unique_lock lock(scheduler_.mutex_);
  scheduler_.threads_.wake({std::exchange(scheduler_.queue_.held, kNobody)});
  if (jobs.empty()) return;
  const Consuming consuming(scheduler_.queue_.consumed, lock);
  wait(lock, poll, [&] {
    while (!jobs.empty() && jobs.front()->finished) {
      std::shared_ptr<Job> first = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      first.reset();
      lock.lock();
    }
    scheduler_.threads_.wake({.all = scheduler_.queue_.was_starved()});
    return jobs.empty();
  });
}

void JobConsumer::abandon() {
  std::vector<std::shared_ptr<Job>> ended;
  {
    std::lock_guard lock(scheduler_.mutex_);
    scheduler_.threads_.wake({std::exchange(scheduler_.queue_.held, kNobody)});
    ended = scheduler_.queue_.abandon();
  }
  for (const auto& job : ended) scheduler_.work_.finish(job, thread_);
  drop_all({});
}

}  // namespace penstock
