// SPDX-License-Identifier: Apache-2.0
// The jobs in flight, the oldest first, and which task a thread takes next. Guarded by the scheduler's mutex.
#pragma once
#include <deque>
#include <utility>
#include <vector>

#include "exec/job.h"

namespace penstock {

struct Task {
  std::shared_ptr<Job> job;
  bool prepare = false;
  int64_t item = 0;
  int count = 1;
};

class JobQueue {
 public:
  JobQueue(JobWork& work, int threads) : threads(threads), work_(work) {}

  // For a thread of this lane; last: the job of its last task, or null. False: there is none.
  bool find(Task& task, int lane, const Job* last);
  bool take_prepare(Task& task, const std::shared_ptr<Job>& job);  // of a step that nobody has prepared
  void add(std::shared_ptr<Job> job);  // those that somebody takes come before those that leave
  void leave(const Job& job);
  // Nobody wants the jobs: what a thread works on it completes, nothing new begins. Gives those whose step ends here,
  // since no thread works on it.
  std::vector<std::shared_ptr<Job>> abandon();
  bool any_blocked() const;
  bool all_finished() const;

  std::deque<std::shared_ptr<Job>> jobs;
  bool was_starved() { return std::exchange(starved, false); }
  bool starved = false;  // a task was found that has to wait: for room or its turn
  int held = kNobody;    // the lane that nobody has woken for the only job: it is waited for soon
  uint64_t next_number = 0;
  bool consumed = false;  // somebody waits for the first one

  const int threads;  // of kAnyStep

 private:
  bool take_prepare(Task& task, size_t position);
  bool in_turn(size_t position) const;

  JobWork& work_;
};

}  // namespace penstock
