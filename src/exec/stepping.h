// SPDX-License-Identifier: Apache-2.0
// The slow twin of the threads: who waits for a job takes each of its steps itself, one after the other, and nothing
// runs ahead. The work is the same (exec/job.h), and so are bytes, errors and states.
#pragma once
#include "exec/scheduler.h"

namespace penstock {

// Takes the steps of a scheduler without threads. Both functions are called under its mutex.
class Stepping {
 public:
  // thread: its number, for the work.
  Stepping(Scheduler& scheduler, int thread) : scheduler_(scheduler), thread_(thread) {}
  // Prepares the next step of the oldest job that has not ended, or runs an item of it. False: somebody else has the
  // job, or there is no room.
  bool advance(std::unique_lock<std::mutex>& lock);
  // The work hears of the step that a job has ended. May throw what it throws.
  void tell(std::unique_lock<std::mutex>& lock);

 private:
  std::shared_ptr<Job> oldest() const;
  bool find(Task& task);

  Scheduler& scheduler_;
  const int thread_;
  std::shared_ptr<Job> stepped_;  // the job of the last task
};

}  // namespace penstock
