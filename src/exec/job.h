// SPDX-License-Identifier: Apache-2.0
// What a scheduler knows of its work: jobs, each a row of steps. A step is prepared by one thread and may have items,
// which many threads run.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

namespace penstock {

constexpr int kAnyStep = -1;   // the lane of the threads that prepare all steps but those with a lane of their own
constexpr int kNobody = -2;    // no lane
constexpr int kConsumer = -3;  // a thread that waits for a job

// Guarded by the scheduler's mutex, but for what prepare() sets.
struct Job {
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  uint64_t number = 0;
  bool has_number = false;  // else it gets the next one
  bool leaves = false;      // when it ends: nobody takes it
  bool unordered = false;   // none of its steps is in order, and none waits for it in order
  size_t step = 0;
  int lane = kAnyStep;    // of the threads that prepare the step
  bool in_order = false;  // the step is prepared in the order of the jobs
  bool prepared = false, preparing = false;
  int64_t items = 0, next_item = 0, done_items = 0;
  int together = 1;       // items that one thread should run at once
  bool waits = false;     // somebody else has it: no thread touches it
  bool finished = false;  // its last step is done
  bool blocked = false;   // it has been refused room
  std::chrono::steady_clock::time_point blocked_since{};
  int64_t first_ns = 0, began_ns = 0;  // when it began, and its current step
};

enum class Room {
  yes,
  soon,   // not now, but a short time later in any case
  later,  // not before something else ends
  full,   // ... and who ends it tells the scheduler
};

class JobWork {
 public:
  virtual ~JobWork() = default;
  // Under the scheduler's mutex.
  virtual void begins(Job& job) = 0;     // it has its number: sets the first step
  virtual bool next_step(Job& job) = 0;  // sets step, lane and in_order; false: there is none
  // Whether the step of the job at this position may be prepared. wanted: somebody waits for that job alone.
  virtual Room room_for(const Job& job, size_t position, bool wanted) = 0;
  virtual void taken(Job& job) = 0;                  // the step will be prepared
  virtual bool abandon(Job& job) = 0;                // nobody wants it: true if it may end where it is
  virtual bool runs_here(const Job& job) const = 0;  // the thread that waits for the job may prepare the step

  // Without it. None throws.
  virtual void prepare(Job& job, int thread) = 0;  // sets items; 0: the step is done
  virtual void run(Job& job, int64_t first, int count, int thread) = 0;
  // The step is done: ends in Scheduler::go_on(), at once or when what has it is ready.
  virtual void finish(const std::shared_ptr<Job>& job, int thread) = 0;
  // A thread without a task, for want of room: true if it has to look again before it sleeps.
  virtual bool ask_for_room() = 0;
  virtual void slept(int64_t ns, bool blocked, int thread) = 0;  // one of kAnyStep; blocked: a job had no room
  // Without threads: the job has ended a step, and nobody has begun the next one. May throw.
  virtual void stepped(Job& /*job*/) {}
};

}  // namespace penstock
