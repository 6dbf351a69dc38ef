// SPDX-License-Identifier: Apache-2.0
#include "exec/loop_counts.h"

#include "base/thread_times.h"
#include "exec/statistics.h"

namespace penstock {

void LoopCounts::waits(int64_t begin) {
  if (last_ns_) return;
  first_ns_ = begin, first_process_ns_ = process_ns();  // again after a wait that an error ended
}

void LoopCounts::waited(int64_t begin, int64_t end, size_t ready) {
  last_process_ns_ = process_ns(), last_ns_ = end;  // what the program does after its loop does not count
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
  if (last_ns_) to.wall_ns = last_ns_ - first_ns_, to.process_ns = last_process_ns_ - first_process_ns_;
  to.consumer_wait_ns = wait_ns_;
  std::lock_guard lock(mutex_);
  to.batches = batches_, to.waits = waits_, to.ready = ready_;
}

}  // namespace penstock
