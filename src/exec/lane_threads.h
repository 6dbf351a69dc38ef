// SPDX-License-Identifier: Apache-2.0
// The threads of a scheduler: how they begin and end, and how one that sleeps is woken.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "exec/job.h"
#include "exec/reserve.h"

namespace penstock {

// Whom a change of the queue concerns: a thread of a lane that is not the caller's own, all that wait for room, the
// consumer. Each thread that changes something looks for a task itself, after it.
struct Wake {
  int lane = kNobody;
  bool all = false, consumer = false;
};

class LaneThreads {
 public:
  explicit LaneThreads(std::mutex& mutex) : mutex_(mutex) {}

  int add_lane();  // before its threads begin
  void begin(int lane, std::function<void()> serve);
  void wake(const Wake& w);  // best without the mutex: who wakes takes it
  void wake_any() { any_.notify_all(); }
  void wake_another() { any_.notify_one(); }
  void sleep(int lane, std::unique_lock<std::mutex>& lock) { sleepers(lane).wait(lock); }
  // For threads of kAnyStep, while a job is blocked: one looks now and then whether it may go on, the others sleep.
  // True: this one looks.
  bool watch(std::unique_lock<std::mutex>& lock);
  // Those that must not work now; nothing else wakes them.
  void sleep_in_reserve(std::unique_lock<std::mutex>& lock) { spare_.wait(lock); }
  void wake_reserve() { spare_.notify_all(); }
  bool may_work(int number, int lane) const {
    return lane != kAnyStep || (reserve.is_awake(number) && reserve.lets_work());
  }
  Reserve reserve;  // of the threads of kAnyStep
  std::condition_variable& consumers() { return consumers_; }
  // Waits for threads that work, but at most `patience` for those of lanes of their own: they may be in a function of
  // the program. True: all have ended.
  bool ended_within(std::chrono::milliseconds patience);
  void join();

 private:
  std::condition_variable& sleepers(int lane) { return lane == kAnyStep ? any_ : own_[static_cast<size_t>(lane)]; }

  std::mutex& mutex_;
  std::condition_variable any_, consumers_, ended_, spare_;
  std::deque<std::condition_variable> own_;  // by lane
  std::vector<std::thread> threads_;
  bool watched_ = false;
  int running_ = 0, calling_ = 0;  // that have not ended, and those of them with a lane of their own
};

}  // namespace penstock
