// SPDX-License-Identifier: Apache-2.0
#include "exec/stepping.h"

#include <algorithm>
#include <utility>

#include "data/remote.h"

namespace penstock {
namespace {

// What runs on this thread belongs to the scheduler, as on a thread of it.
class Serves {
 public:
  explicit Serves(const Scheduler& scheduler)
      : before_(std::exchange(Scheduler::serving, Served{&scheduler, kAnyStep})) {}
  ~Serves() { Scheduler::serving = before_; }
  Serves(const Serves&) = delete;
  Serves& operator=(const Serves&) = delete;

 private:
  const Served before_;
};

}  // namespace

std::shared_ptr<Job> Stepping::oldest() const {
  const auto& jobs = scheduler_.queue_.jobs;
  const auto at = std::find_if(jobs.begin(), jobs.end(), [](const auto& job) { return !job->finished; });
  return at == jobs.end() ? nullptr : *at;
}

bool Stepping::find(Task& task) {
  const auto job = oldest();
  if (!job || job->waits || job->preparing) return false;
  if (!job->prepared) return scheduler_.queue_.take_prepare(task, job);
  if (job->next_item >= job->items) return false;
  task = {job, false, job->next_item++, 1};
  return true;
}

bool Stepping::advance(std::unique_lock<std::mutex>& lock) {
  Task task;
  if (scheduler_.stop_ || !find(task)) return false;
  stepped_ = task.job;
  const RemoteWait wait(scheduler_.stop_);
  const Serves serves(scheduler_);
  lock.unlock();
  scheduler_.perform(task, thread_, lock);
  return true;
}

void Stepping::tell(std::unique_lock<std::mutex>& lock) {
  if (!stepped_ || stepped_->waits || (stepped_->prepared && !stepped_->finished)) return;
  const auto job = std::exchange(stepped_, nullptr);
  const Serves serves(scheduler_);
  lock.unlock();
  try {
    scheduler_.work_.stepped(*job);
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
}

}  // namespace penstock
