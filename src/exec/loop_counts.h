// SPDX-License-Identifier: Apache-2.0
// What stats() says of whole batches, and of the loop that takes them. Threads may call all functions at once.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "exec/duration_counts.h"

namespace penstock {

struct PipelineStatistics;

class LoopCounts {
 public:
  void waits(int64_t begin);  // before waited(), which has the same begin
  void waited(int64_t begin, int64_t end, size_t ready);
  void delivered(int64_t samples);
  void batch_done(int64_t ns);
  uint64_t iterations() const { return static_cast<uint64_t>(iterations_.load()); }
  void show(PipelineStatistics& to) const;

 private:
  std::atomic<int64_t> wait_ns_{0}, iterations_{0}, samples_{0};
  std::atomic<int64_t> first_ns_{0}, last_ns_{0}, first_process_ns_{0}, last_process_ns_{0};
  mutable std::mutex mutex_;
  DurationCounts batches_, waits_;
  std::vector<int64_t> ready_;
};

}  // namespace penstock
