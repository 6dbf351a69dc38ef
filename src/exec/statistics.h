// SPDX-License-Identifier: Apache-2.0
// Where time is spent: sums for stats(), events for a Chrome trace.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "codecs/jpeg/index_store_access.h"
#include "exec/iteration.h"

namespace penstock {

// What a decoder keeps of its pictures.
struct CachedCounts {
  int64_t hits = 0, misses = 0, pictures = 0, bytes = 0;
};

struct StepStatistics {
  std::string name;
  CachedCounts cached;
  int64_t busy_ns = 0, samples = 0;
  int64_t read_ns = 0, decode_ns = 0, pixels_ns = 0;  // parts of a stage
  int64_t copied_bytes = 0;  // assignments to a part: of values that others hold and that are therefore copied
};

struct PipelineStatistics {
  int64_t iterations = 0, samples = 0;
  int64_t wall_ns = 0;           // since the first run
  int64_t consumer_wait_ns = 0;  // the loop waited for data
  int64_t worker_idle_ns = 0;    // summed over threads
  int64_t blocked_ns = 0;        // workers waited because the loop held its batches
  int64_t bytes_held = 0, bytes_in_use = 0;
  int64_t device_bytes_in_use = 0;  // on the GPU
  int threads = 0;
  IndexCounts index;                   // of entropy indexes, in samples
  std::string index_path, index_note;  // "" if none are used; the reason why they are not stored
  std::vector<StepStatistics> steps;
  std::string verdict() const;  // one line: what the loop waits for
};

struct TraceEvent {
  int thread;
  int step;
  uint64_t iteration;
  int64_t begin_ns, end_ns;
};

class Statistics {
 public:
  Statistics(const Plan& plan, int threads);
  void add(int thread, int step, uint64_t iteration, int64_t begin, int64_t end, int64_t samples, int64_t read_ns,
           int64_t decode_ns, int64_t pixels_ns);
  void copied(size_t step, size_t bytes) { copied_[step] += static_cast<int64_t>(bytes); }
  void cached(size_t step, const CachedCounts& counts);
  void name_engine(size_t step, const std::string& engine) { names_[step] += " by " + engine; }  // before the first run
  void idle(int64_t ns) { idle_ns_ += ns; }
  void blocked(int64_t ns) { blocked_ns_ += ns; }
  void waited(int64_t begin, int64_t end);  // the consumer, in outputs()
  void delivered(int64_t samples);
  PipelineStatistics summary() const;
  void start_trace() { tracing_ = true; }
  std::string trace_json() const;  // Chrome's trace event format

 private:
  struct ThreadCounters {  // per thread
    mutable std::mutex mutex;
    std::vector<StepStatistics> steps;
    std::vector<TraceEvent> events;
  };
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ThreadCounters>> counters_;
  std::vector<std::atomic<int64_t>> copied_;  // bytes, by step
  mutable std::mutex cached_mutex_;
  std::vector<CachedCounts> cached_;
  std::atomic<bool> tracing_{false};
  std::atomic<int64_t> idle_ns_{0}, blocked_ns_{0}, wait_ns_{0}, iterations_{0}, samples_{0};
  std::atomic<int64_t> first_ns_{0}, last_ns_{0};
};

}  // namespace penstock
