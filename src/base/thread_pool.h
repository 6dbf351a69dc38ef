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
  ~ThreadPool();
  int size() const;
  // body(index, thread) with thread in [0, size()).
  void parallel_for(int64_t count, const std::function<void(int64_t, int)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The pool of immediate calls; made on first use with usable_cores() threads. A child after fork gets a new one.
ThreadPool& shared_pool();

}  // namespace penstock
