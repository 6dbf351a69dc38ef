// SPDX-License-Identifier: Apache-2.0
// Takes the finished jobs of a scheduler, in order. A thread that waits does work meanwhile, where that is quicker than
// to wake another one (docs/decisions/0028).
#pragma once
#include <deque>
#include <functional>
#include <optional>

#include "exec/stepping.h"

namespace penstock {

class JobConsumer {
 public:
  using Poll = std::function<void()>;  // called now and then by a thread that waits; may throw
  // Called under the mutex for the jobs, of which the first is waited for, before each wait; may throw.
  using Check = std::function<void(const std::deque<std::shared_ptr<Job>>&)>;
  // thread: the number of the waiting thread, for the work.
  JobConsumer(Scheduler& scheduler, int thread) : scheduler_(scheduler), thread_(thread) {
    if (scheduler.steps()) stepping_.emplace(scheduler, thread);
  }

  // The oldest job that does not leave by itself, when it has finished. Null: there is no job at all.
  std::shared_ptr<Job> take(const Poll& poll, const Check& check);
  void drop_finished(const Poll& poll);  // waits for all, which have no more to do, and drops them together
  void drop_all(const Poll& poll);       // waits for all, and drops each at once
  // Drops all soon: nobody wants them. The wait is short and has no end but this one: half of the jobs may have ended
  // by it.
  void abandon();
  // Throws where the calling thread is in a function of the program that a job here, or of one that waits for it,
  // calls: it would wait for itself.
  void check_caller() const;
  size_t found_ready() const { return found_ready_; }  // jobs that were done when take() began last

 private:
  void wait(std::unique_lock<std::mutex>& lock, const Poll& poll, const std::function<bool()>& done);
  Wake run_here(const std::shared_ptr<Job>& job);  // gives whom the rest concerns

  Scheduler& scheduler_;
  const int thread_;
  size_t found_ready_ = 0;
  std::optional<Stepping> stepping_;  // where the scheduler has no threads
  std::mutex alone_;                  // held by the thread that does the consumer's share
};

}  // namespace penstock
