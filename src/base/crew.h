// SPDX-License-Identifier: Apache-2.0
// Threads of a pool that share one sample: the thread that has it offers parts, and threads without work take some.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace penstock {

// The owner of an offer works on its parts until all are taken, then waits for those that other threads have begun. It
// never waits for a thread to come: a crew without idle threads is a loop.
class Crew {
 public:
  using Body = std::function<void(int64_t)>;
  enum class Habit : uint8_t {
    sleeps,
    spins,  // threads without work look for it for some time before they sleep: parts may be small
  };
  // `wake`: wakes the idle threads of the pool, which then call help().
  explicit Crew(std::function<void()> wake, Habit habit = Habit::sleeps) : wake_(std::move(wake)), habit_(habit) {}
  Crew(const Crew&) = delete;

  // body(part) for parts [0, parts), begun in this order. Rethrows the error of the first part by position that fails,
  // as a loop does; later parts may have run.
  void run(int64_t parts, const Body& body);
  // Works on what is offered now. For threads of the pool, without the pool's mutex.
  void help();
  bool has_work() const { return open_.load(std::memory_order_acquire) > 0; }

  // Threads that would take a part now: those that sleep, less the tasks that wake them anyway.
  int idle() const {
    return std::max(0, asleep_.load(std::memory_order_relaxed) - ready_.load(std::memory_order_relaxed));
  }
  void sleeps() { asleep_.fetch_add(1, std::memory_order_relaxed); }
  void wakes() { asleep_.fetch_sub(1, std::memory_order_relaxed); }
  void set_ready(int tasks) { ready_.store(tasks, std::memory_order_relaxed); }

  // The crew of the thread's task, or null.
  static Crew* of_thread();
  // Parts in which a thread best cuts its work that writes so many bytes; 1: nobody would help.
  static int64_t parts(int64_t bytes);
  // body(begin, end) for parts of [0, count) that write `bytes` in all.
  static void share(int64_t count, int64_t bytes, const std::function<void(int64_t, int64_t)>& body);

 private:
  struct Offer {
    const Body& body;
    int64_t parts, failed = parts, next = 0;
    std::atomic<int> running = 0;  // changed under mutex_
    std::exception_ptr error = nullptr;
  };
  void work(Offer& offer, std::unique_lock<std::mutex>& lock);
  void close(Offer& offer);  // under mutex_: nobody takes further parts
  void take(std::unique_lock<std::mutex>& lock);

  std::function<void()> wake_;
  const Habit habit_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<Offer*> offers_;  // with parts that nobody has taken
  std::atomic<int> open_{0}, asleep_{0}, ready_{0};
};

// While it lives, the thread's tasks may be shared with this crew.
class CrewMember {
 public:
  explicit CrewMember(Crew* crew);
  ~CrewMember();
  CrewMember(const CrewMember&) = delete;

 private:
  Crew* before_;
};

}  // namespace penstock
