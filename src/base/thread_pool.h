// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/crew.h"

namespace penstock {

// Cores that the process may use: the smaller of its affinity and its cgroup's quota.
int usable_cores();
// The quota of a tree of cgroups, of version 2 or 1, in cores; 0: it has none.
double cores_of_quota(const std::string& cgroups);

// Threads that share loops. parallel_for returns when all indices are done; the caller takes part.
// parallel_for rethrows the first exception of a body; the remaining indices are not started.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // total number of threads, including the caller's
  virtual ~ThreadPool();
  virtual int size() const;
  // body(index, thread) with thread in [0, size()).
  virtual void parallel_for(int64_t count, const std::function<void(int64_t, int)>& body);
  // Its threads while they have no index of a loop.
  Crew& crew();

 protected:
  ThreadPool();  // for a pool with its own threads

 private:
  void stop() noexcept;
  struct State;
  std::unique_ptr<State> state_;
};

// The pool of immediate calls; created on first use with usable_cores() threads. A forked child gets a new one.
std::shared_ptr<ThreadPool> shared_pool();
// Running calls keep their pool. nullptr: a pool of usable_cores() threads.
void set_shared_pool(std::shared_ptr<ThreadPool> pool);

}  // namespace penstock
