// SPDX-License-Identifier: Apache-2.0
// Runs jobs on threads: steps of several jobs at once, items of a step in parallel, the oldest job first. It knows
// nothing of what a step does (exec/job.h). Who takes finished jobs is in exec/job_consumer.h.
#pragma once
#include <atomic>
#include <utility>

#include "base/crew.h"
#include "exec/job_queue.h"
#include "exec/lane_threads.h"

namespace penstock {

class Scheduler;

struct Served {
  const Scheduler* scheduler;
  int lane;
};

class Scheduler {
 public:
  // threads: 0: who waits for a job takes its steps (exec/stepping.h). working: so many threads of kAnyStep work at
  // once, beside those whose task is late; 0: all.
  Scheduler(JobWork& work, int threads, int working = 0);
  ~Scheduler() { stop(); }

  int add_lane() { return threads_.add_lane(); }  // before the threads begin
  // A thread of the lane; its number is given to the work.
  void begin_thread(int number, int lane);
  // Gives the job the next number. soon: this thread waits for it next, and may do what another one had to be woken
  // for. False: there are as many as `most` already.
  bool add(std::shared_ptr<Job> job, bool soon = false, size_t most = SIZE_MAX);
  void add_made(std::vector<std::shared_ptr<Job>> jobs);  // that other jobs have made; some may have ended
  size_t size() const;
  uint64_t next_number() const;

  void hold(Job& job);                  // somebody else has it, until go_on() or run_items()
  void go_on(Job& job);                 // to its next step, or its end
  void run_items(Job& job, int64_t n);  // of the step that it is in
  void made_room();                     // for those that had none
  // All threads that have found no task. awake: from now on so many of kAnyStep work, the others sleep; 0: as before.
  void look_again(int awake = 0);

  void ask_to_stop();  // no thread takes another task
  bool stopping() const { return stop_; }
  bool stop_within(std::chrono::milliseconds patience) { return threads_.ended_within(patience); }
  void stop();
  bool steps() const { return queue_.threads == 0; }

  static constinit thread_local Served serving;  // what the calling thread serves

 private:
  friend class JobConsumer;
  friend class Stepping;
  void serve(int number, int lane);
  void sleep(int number, int lane, bool& watches, std::unique_lock<std::mutex>& lock);
  void perform(const Task& task, int number, std::unique_lock<std::mutex>& lock);  // locks it
  Wake advance(Job& job);                                                          // under mutex_

  JobWork& work_;
  mutable std::mutex mutex_;
  LaneThreads threads_{mutex_};
  JobQueue queue_;
  std::atomic<bool> stop_{false};  // set under mutex_; a thread that waits for remote storage looks at it
  std::atomic<const Scheduler*> waits_in_{nullptr};  // whose function the consumer is in, while it waits here

 public:
  Crew crew;  // of the threads of kAnyStep
};

}  // namespace penstock
