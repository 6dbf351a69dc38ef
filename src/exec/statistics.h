// SPDX-License-Identifier: Apache-2.0
// Where time is spent: sums and durations for stats(), events for a trace.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/thread_times.h"
#include "codecs/jpeg/index_store_access.h"
#include "data/read_tally.h"
#include "exec/duration_counts.h"
#include "exec/loop_counts.h"
#include "exec/slow_samples.h"
#include "exec/trace.h"
#include "graph/plan.h"

namespace penstock {

// What a decoder keeps of its pictures.
struct CachedCounts {
  int64_t hits = 0, misses = 0, pictures = 0, bytes = 0;
};

struct StepStatistics {
  std::string name;
  std::vector<int> nodes;  // of the graph as given
  std::string user_line;   // of its last operator
  bool calls = false;      // a function or source of the program, with threads of its own
  bool source = false;
  bool fits_all = false;  // it has no work for each batch: a constant
  CachedCounts cached;
  int64_t busy_ns = 0, samples = 0;
  int64_t read_ns = 0, decode_ns = 0, pixels_ns = 0;  // parts of a stage
  int64_t lock_ns = 0;                                // it waited for the lock of the program's interpreter
  ReadTally reads;
  int64_t copied_bytes = 0;      // assignments to a part: of values that others hold and that are therefore copied
  int64_t moved_bytes = 0;       // of its inputs and outputs, where threads share its samples
  DurationCounts each, batches;  // of a sample, of a batch from its begin to its end
  SlowSamples slowest;
};

struct ThreadStatistics {
  std::string name;
  bool works = false;  // it takes any step; else it has one of its own
  int64_t busy_ns = 0, idle_ns = 0, blocked_ns = 0;
  ThreadTimes system;  // since it began
};

struct PipelineStatistics {
  int64_t iterations = 0, samples = 0;
  int64_t wall_ns = 0;           // since the first run
  int64_t consumer_wait_ns = 0;  // the loop waited for data
  int64_t loop_lock_ns = 0;      // and then for the interpreter's lock
  int64_t worker_idle_ns = 0;    // summed over threads
  int64_t blocked_ns = 0;        // workers waited because the loop held its batches
  int64_t bytes_held = 0, bytes_in_use = 0;
  int64_t device_bytes_in_use = 0;     // on the GPU
  int threads = 0, cores = 0;          // cores: that the process may use
  int64_t process_ns = 0;              // on cores, since the first run
  DurationCounts batches;              // from the begin of one to its end
  DurationCounts waits;                // of the loop
  std::vector<int64_t> ready;          // how often so many batches were ready when the loop asked for one
  IndexCounts index;                   // of entropy indexes, in samples
  std::string index_path, index_note;  // "" if none are used; the reason why they are not stored
  std::vector<StepStatistics> steps;
  std::vector<ThreadStatistics> by_thread;
  std::string verdict() const;  // one line: what the loop waits for (exec/bottleneck.h)
};

// What a thread did for a step.
struct StepWork {
  int thread = 0, step = 0;
  uint64_t iteration = 0;
  int64_t begin_ns = 0, end_ns = 0;
  int64_t samples = 0;
  std::span<const double> shares{};  // of the time, by sample; empty: equal ones
  ReadTally reads{};
  int64_t decode_ns = 0, pixels_ns = 0, lock_ns = 0;
  bool whole_batch = false;  // it was all that the step has to do for its batch
};

class Statistics {
 public:
  Statistics(const Plan& plan, int threads);
  void add_lane(int lane, size_t step);  // whose threads call a function of the program; before they begin
  // Returns how long a sample of the step has to take to be of interest for add_slow().
  int64_t add(const StepWork& work);
  void add_slow(int thread, int step, SlowSample sample);
  void add_event(int thread, TraceEvent event);
  bool traces() const { return tracing_.load(std::memory_order_relaxed); }
  void batch_of(int thread, size_t step, int64_t ns, int64_t moved_bytes);
  LoopCounts& loop() { return loop_; }
  void copied(size_t step, size_t bytes) { copied_[step] += static_cast<int64_t>(bytes); }
  void cached(size_t step, const CachedCounts& counts);
  void name_engine(size_t step, const std::string& engine) { steps_[step].name += " by " + engine; }  // before it runs
  void slept(int thread, int64_t ns, bool blocked);
  void waited(int64_t begin, int64_t end, size_t ready);  // the consumer, in outputs(), which has told loop() the begin
  PipelineStatistics summary() const;
  void start_trace() { tracing_ = true; }
  std::string trace_json() const;  // Chrome's trace event format

 private:
  struct StepCounts {  // durations are made at the first sample: a graph may have many steps
    StepStatistics sums;
    std::unique_ptr<DurationCounts> each, batches;
  };
  struct ThreadCounters {  // per thread; one for all threads of a lane
    mutable std::mutex mutex;
    std::string name;
    std::vector<StepCounts> steps;
    std::vector<TraceEvent> events;
    int id = 0;  // of the thread in the system
    int64_t busy_ns = 0, idle_ns = 0, blocked_ns = 0;
  };
  ThreadCounters& of(int thread);
  ThreadCounters& new_counters(std::string name);
  void add_to(StepStatistics& sum, const StepCounts& part) const;

  const int threads_;
  std::vector<StepStatistics> steps_;                      // names and places; the counts are zero
  std::vector<std::unique_ptr<ThreadCounters>> counters_;  // threads, the loop, the decoder of a GPU, lanes
  std::vector<std::atomic<int64_t>> copied_;               // bytes, by step
  mutable std::mutex cached_mutex_;
  std::vector<CachedCounts> cached_;
  LoopCounts loop_;
  std::atomic<bool> tracing_{false};
};

}  // namespace penstock
