// SPDX-License-Identifier: Apache-2.0
#include "exec/loop_counts.h"

#include "base/thread_times.h"
#include "exec/statistics.h"

namespace penstock {

void LoopCounts::waited(int64_t begin, int64_t end, size_t ready) {
  int64_t zero = 0;
  if (first_ns_.compare_exchange_strong(zero, begin)) first_process_ns_ = process_ns();
  last_ns_ = end;
  wait_ns_ += end - begin;
  std::lock_guard lock(mutex_);
  waits_.add(end - begin);
  if (ready_.size() <= ready) ready_.resize(ready + 1);
  ++ready_[ready];
}

void LoopCounts::delivered(int64_t samples) {
  ++iterations_;
  samples_ += samples;
}

void LoopCounts::batch_done(int64_t ns) {
  std::lock_guard lock(mutex_);
  batches_.add(ns);
}

void LoopCounts::show(PipelineStatistics& to) const {
  to.iterations = iterations_, to.samples = samples_;
  to.wall_ns = last_ns_ - first_ns_;
  to.consumer_wait_ns = wait_ns_;
  if (first_ns_) to.process_ns = process_ns() - first_process_ns_;
  std::lock_guard lock(mutex_);
  to.batches = batches_, to.waits = waits_, to.ready = ready_;
}

}  // namespace penstock
