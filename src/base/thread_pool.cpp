// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/begin_thread.h"
#include "base/crew.h"

namespace penstock {

double cores_of_quota(const std::string& cgroups) {
  std::string quota;
  double period = 0;
  if (std::ifstream v2(cgroups + "/cpu.max");
      v2 >> quota >> period) {  // "quota period" in microseconds, or "max period"
    const double q = std::strtod(quota.c_str(), nullptr);
    return q > 0 && period > 0 ? q / period : 0;
  }
  double q = 0;  // version 1: -1 where there is none
  std::ifstream v1(cgroups + "/cpu/cpu.cfs_quota_us"), v1_period(cgroups + "/cpu/cpu.cfs_period_us");
  return v1 >> q && v1_period >> period && q > 0 && period > 0 ? q / period : 0;
}

int usable_cores() {
  int n = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  if (const double quota = cores_of_quota("/sys/fs/cgroup"); quota > 0)
    n = std::min(n, std::max(1, static_cast<int>(quota + 0.5)));
  return std::max(1, n);
}

struct ThreadPool::State {
  struct Loop {
    int64_t count;
    const std::function<void(int64_t, int)>* body;
    std::atomic<int64_t> next{0};
    std::exception_ptr error = nullptr;
    int64_t failed = -1;
  };
  std::mutex mutex, one_loop;
  std::condition_variable wake, done;
  Loop* loop = nullptr;
  int busy = 0;
  uint64_t generation = 0;
  bool stop = false;
  std::vector<std::thread> threads;
  Crew crew{[this] {
    {
      std::lock_guard lock(mutex);
    }  // who has found no work sleeps by now
    wake.notify_all();
    done.notify_all();
  }};

  void work(Loop& l, int thread) {
    const CrewMember member(&crew);
    for (int64_t i; (i = l.next.fetch_add(1, std::memory_order_relaxed)) < l.count;) {
      crew.set_ready(static_cast<int>(std::min<int64_t>(l.count - i - 1, 1 << 20)));
      try {
        (*l.body)(i, thread);
      } catch (...) {
        l.next.store(l.count, std::memory_order_relaxed);
        crew.set_ready(0);
        std::lock_guard lock(mutex);
        // Indices are taken in order: the first one that fails is always among those that were.
        if (!l.error || i < l.failed) l.error = std::current_exception(), l.failed = i;
      }
    }
  }
  void serve(int thread) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      crew.sleeps();
      wake.wait(lock, [&] { return stop || (loop && generation != seen) || crew.has_work(); });
      crew.wakes();
      if (stop) return;
      if (!loop || generation == seen) {
        lock.unlock();
        crew.help();
        lock.lock();
        continue;
      }
      seen = generation;
      Loop* l = loop;
      ++busy;
      lock.unlock();
      work(*l, thread);
      lock.lock();
      if (--busy == 0) done.notify_all();
    }
  }
};

ThreadPool::ThreadPool() : ThreadPool(1) {}
ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  try {
    state_->threads.reserve(static_cast<size_t>(std::max(0, threads - 1)));
    for (int i = 1; i < threads; ++i) state_->threads.push_back(begin_thread([this, i] { state_->serve(i); }));
  } catch (...) {  // the system refuses another thread
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() noexcept {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (auto& t : state_->threads) t.join();
}

Crew& ThreadPool::crew() { return state_->crew; }

int ThreadPool::size() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::parallel_for(int64_t count, const std::function<void(int64_t, int)>& body) {
  if (count <= 1 || state_->threads.empty()) {
    for (int64_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::lock_guard only(state_->one_loop);
  State::Loop loop{count, &body};
  Crew& crew = state_->crew;
  crew.set_ready(static_cast<int>(std::min<int64_t>(count, 1 << 20)));
  {
    std::lock_guard lock(state_->mutex);
    state_->loop = &loop;
    ++state_->generation;
  }
  state_->wake.notify_all();
  state_->work(loop, 0);
  std::unique_lock lock(state_->mutex);
  state_->loop = nullptr;
  while (state_->busy > 0) {
    crew.sleeps();
    state_->done.wait(lock, [&] { return state_->busy == 0 || crew.has_work(); });
    crew.wakes();
    if (state_->busy == 0) break;
    lock.unlock();
    crew.help();
    lock.lock();
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

namespace {
struct SharedPool {
  std::mutex mutex;
  std::shared_ptr<ThreadPool> pool;
  pid_t owner = 0;
};
SharedPool& shared() {
  static auto* s = new SharedPool;  // never destroyed: calls may run while static objects are destroyed
  return *s;
}
}  // namespace

std::shared_ptr<ThreadPool> shared_pool() {
  SharedPool& s = shared();
  std::lock_guard lock(s.mutex);
  if (s.pool && s.owner != getpid()) {
    // Threads do not survive a fork. Their pool cannot be joined, so it is leaked.
    new std::shared_ptr<ThreadPool>(std::move(s.pool));
    s.pool = nullptr;
  }
  if (!s.pool) s.pool = std::make_shared<ThreadPool>(usable_cores()), s.owner = getpid();
  return s.pool;
}

void set_shared_pool(std::shared_ptr<ThreadPool> pool) {
  SharedPool& s = shared();
  std::lock_guard lock(s.mutex);
  s.pool.swap(pool);  // the last call that uses the old pool joins it, outside the lock
  s.owner = getpid();
}

}  // namespace penstock
