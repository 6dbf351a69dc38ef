// SPDX-License-Identifier: Apache-2.0
// The iterations of a pipeline that are in flight: the jobs of its scheduler.
#pragma once
#include <atomic>
#include <span>

#include "exec/iteration_runner.h"
#include "exec/job_consumer.h"

namespace penstock {

class IterationQueue {
 public:
  IterationQueue(IterationRunner& runner, const Graph& graph, const Plan& plan, int threads, int working);

  std::shared_ptr<Iteration> make() const;  // without values, which nobody has begun
  // soon: this thread calls take() next, and may do then what another one had to be woken for. Nothing happens where
  // there are as many as `most`. False: batches were listed, and all of them are in flight or taken; or, where samples
  // may come late, enough are in flight and this one is not `needed`.
  bool schedule(bool soon = false, size_t most = SIZE_MAX, bool needed = false);
  // From now on iterations make these batches, after those that were listed before; none: the one after the last.
  void list(std::span<const BatchPlace> places);
  bool lists() const { return lists_; }
  void abandon() { consumer_.abandon(); }  // drops all, which nobody wants
  int size() const;
  uint64_t next_number() const { return scheduler.next_number(); }
  // The oldest one, when it has ended. Where that is by the end of the data, all others have ended too and are gone.
  // Null, where samples may come late: all that is in flight is too little for a batch.
  std::shared_ptr<Iteration> take(const JobConsumer::Poll& poll);
  size_t found_ready() const { return consumer_.found_ready(); }  // when take() began last
  void drop_all(const JobConsumer::Poll& poll);                   // waits for them
  void check_caller() const { consumer_.check_caller(); }
  bool forked() const;         // this is a child of the process that made the queue
  void check_process() const;  // error (argument) if it is

  bool wants_more() const { return late || size() < depth; }  // may another one be in flight; schedule() knows

  Scheduler scheduler;
  LateSamples* late = nullptr;  // where samples may come late
  std::atomic<int> depth{1};    // iterations that are in flight at most

 private:
  IterationRunner& runner_;
  const Graph& graph_;
  const Plan& plan_;
  JobConsumer consumer_;
  std::mutex listing_;             // guards the two below
  std::deque<BatchPlace> listed_;  // that no iteration has
  std::atomic<bool> lists_{false};
  const int process_;
};

}  // namespace penstock
