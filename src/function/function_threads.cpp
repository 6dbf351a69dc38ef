// SPDX-License-Identifier: Apache-2.0
#include "function/function_threads.h"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <thread>
#include <vector>

#include "base/begin_thread.h"
#include "base/spin.h"

namespace penstock {

class FunctionThreads::Team {
 public:
  explicit Team(int helpers) {
    try {
      threads_.reserve(static_cast<size_t>(helpers));
      for (int i = 0; i < helpers; ++i) threads_.push_back(begin_thread([this] { serve(); }));
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Team() { stop(); }
  Team(const Team&) = delete;

  void begin(bool soon) {
    {
      std::lock_guard lock(mutex_);
      ++calls_;
      called_ = true;
    }
    if (soon) wake_.notify_all();
  }
  void end() { called_ = false; }

  const pid_t owner = getpid();
  Crew crew{[this] {
              {
                std::lock_guard lock(mutex_);
              }  // who has found no part sleeps by now
              wake_.notify_all();
            },
            Crew::Habit::spins};

 private:
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& t : threads_) t.join();
  }
  void serve() {
    uint64_t seen = 0;
    crew.sleeps();
    while (true) {
      if (spin_until([&] { return crew.has_work() || !called_; }) && crew.has_work()) {
        crew.wakes();
        crew.help();
        crew.sleeps();
        continue;
      }
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || crew.has_work() || (called_ && calls_ != seen); });
      if (stop_) return;
      seen = calls_;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t calls_ = 0;
  std::atomic<bool> called_{false};
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

FunctionThreads::FunctionThreads(int threads) : count_(threads) {}
FunctionThreads::~FunctionThreads() {
  if (team_ && team_->owner != getpid()) static_cast<void>(team_.release());  // see team()
}

FunctionThreads::Team* FunctionThreads::team() {
  // Threads do not survive a fork, and cannot be joined after it.
  if (team_ && team_->owner != getpid()) static_cast<void>(team_.release());
  if (!team_) team_ = std::make_unique<Team>(count_ - 1);
  return team_.get();
}

FunctionThreads::Turn::Turn(FunctionThreads* threads, bool soon) {
  if (!threads || !threads->one_call_.try_lock()) return;
  threads_ = threads;
  try {
    Team& team = *threads->team();
    team.begin(soon);
    member_.emplace(&team.crew);
  } catch (...) {
    threads->one_call_.unlock();
    throw;
  }
}

FunctionThreads::Turn::~Turn() {
  if (!threads_) return;
  member_.reset();
  threads_->team_->end();
  threads_->one_call_.unlock();
}

}  // namespace penstock
