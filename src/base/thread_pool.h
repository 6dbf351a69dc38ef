// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>

namespace penstock {

// Cores that the process may use: its affinity and its cgroup's quota, whichever is smaller.
int usable_cores();

// Threads that share loops. parallel_for returns when all indices are done; the caller works too.
// The first exception of a body is thrown again by parallel_for; the remaining indices are not started.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // total number of threads, the caller's included
  virtual ~ThreadPool();
  virtual int size() const;
  // body(index, thread) with thread in [0, size()).
  virtual void parallel_for(int64_t count, const std::function<void(int64_t, int)>& body);

 protected:
  ThreadPool();  // of a pool that brings its own threads

 private:
  void stop() noexcept;
  struct State;
  std::unique_ptr<State> state_;
};

// The pool of immediate calls; made on first use with usable_cores() threads. A child after fork gets a new one.
std::shared_ptr<ThreadPool> shared_pool();
// Calls that are running keep the pool that they have. nullptr: a pool of usable_cores() threads.
void set_shared_pool(std::shared_ptr<ThreadPool> pool);

}  // namespace penstock
