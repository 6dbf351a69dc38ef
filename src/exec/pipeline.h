// SPDX-License-Identifier: Apache-2.0
// A running pipeline: a graph with its sources, threads and queue of finished batches.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/replacement.h"
#include "exec/callback.h"
#include "exec/statistics.h"
#include "exec/stepped_step.h"
#include "graph/plan.h"
#include "readers/external_source.h"

namespace penstock {

// The pipeline whose user function runs on this thread; null: none. A function that uses its own threads must
// mark them with call_for_pipeline(), so that the pipeline does not wait for them either.
const void* calling_pipeline();
void call_for_pipeline(const void* pipeline);

constexpr int kDefaultGpu = -1;  // the first GPU
constexpr int kNoGpu = -99999;   // operators that request a GPU are an error

// What becomes of a sample that is not ready when the others of its batch are: they wait, or it moves to a later batch
// of its epoch.
enum class Late { wait, swap };

struct PipelineOptions {
  int batch_size = 1;
  int threads = 0;   // 0: usable_cores()
  int prefetch = 2;  // iterations in flight or waiting, at least 1
  // Limit on bytes of batches; 0: none. Prefetching stays below it; a single batch that exceeds it is an error before
  // it is allocated.
  size_t memory_limit = 0;
  // Limits for a picture or frame, a sequence, a recording, for decoders and readers without their own limit; 0: the
  // default.
  int64_t max_pixels = 0, max_frames = 0, max_samples = 0;
  EpochMode epoch_mode = EpochMode::stream;
  OnError on_error = OnError::raise;
  int64_t error_budget = -1;  // samples that an epoch may lose; -1: no limit
  bool uneven = false;        // permits on_error "skip" with several shards
  Late late = Late::wait;
  // Entropy indexes of JPEG files, so that later epochs decode only what a crop needs: "off"; "read": uses existing
  // ones; "auto": also makes them; or the path of the file to make and use. "": PENSTOCK_ENTROPY_INDEX, else "auto".
  std::string entropy_index;
  // Threads that the pipeline makes. With late samples as many again are in reserve, for those in late ones.
  int threads_made() const { return stepping ? 0 : late == Late::swap ? 2 * threads : threads; }

  int device = kDefaultGpu;  // GPU for operators that run on one
  // No threads: the one that calls run() takes each step itself, operator by operator. The same bytes, errors and
  // states, slowly. PENSTOCK_EXEC=stepping sets it, and stepping-fused keeps operators in stages.
  bool stepping = false;
  bool one_stream = false;                 // one stream on the GPU for all iterations
  bool set_affinity = false;               // threads run on the cores near the GPU, and their memory is there
  std::shared_ptr<MemoryResource> memory;  // default: its own pool
};

struct PipelineOutput {
  std::vector<Batch> batches;                        // in the order of the graph's outputs
  std::vector<SampleOrigin> origin;                  // of the samples
  std::vector<std::shared_ptr<const StepLog>> logs;  // of the batch that each sample was in, where steps are logged
  bool end_of_epoch = false;                         // of a reader that cuts its epochs
  int taken = 0;                  // samples of the primary source that it used, including those that fn.filter dropped
  int source_batches = 0;         // and batches
  std::vector<LeftOut> left_out;  // those samples that the error policy skipped or replaced
};

// Functions that change a pipeline are for one thread at a time, and must not be called by the program's functions
// inside it: such calls throw ErrorKind::argument.
class Pipeline {
 public:
  Pipeline(Graph graph, PipelineOptions options);
  ~Pipeline();  // waits for the running tasks
  // Ends the threads. Waits for their work, but at most `patience` for functions of the program. True: all have
  // ended, and the destructor has nothing to wait for. The pipeline gives no more batches.
  bool stop(std::chrono::milliseconds patience);
  const Graph& graph() const;
  const PipelineOptions& options() const;
  const Plan& plan() const;
  std::string plan_text() const;
  // What is known of the shapes of the outputs before a run: -1 is an extent that is not known, none an unknown number
  // of dimensions.
  std::vector<std::optional<Shape>> output_shapes() const;
  std::vector<PassText> pass_texts() const;  // from the graph to the plan, pass by pass
  // Connects an external_source node, before the first run.
  void set_feed(int node, std::shared_ptr<ExternalFeed> feed);
  // Connects a python_function or numba_function node, before the first run.
  void set_callback(int node, std::shared_ptr<Callback> callback);
  // feed_input(): `node` must not have its own feed. Returns the number of iterations that it provides.
  int64_t feed(int node, std::vector<Batch> batches);

  // The next batch; prefetches the following ones. Throws what a sample or operator threw (the pipeline stays usable),
  // or Error of kind `stopped` at the end of the data. `poll` is called about every 50 ms while waiting; it may throw.
  PipelineOutput run(const std::function<void()>& poll = {});
  // run() in two parts.
  // soon: the same thread calls outputs() next.
  void schedule(bool soon = false);
  PipelineOutput outputs(const std::function<void()>& poll = {});
  // The next batch is number `batch` of `epoch`, with the bytes that it has where run() is called from the beginning;
  // what is in flight is dropped. Batches count on through the epochs after it. Where epochs are not cut, batch 0 is
  // the first one that begins in the epoch. Error (argument) where only the data say where a batch begins, as after
  // fn.filter; with `replay` the batches before it are made, and dropped.
  void seek(uint64_t epoch, int64_t batch, bool replay = false, const std::function<void()>& poll = {});
  // From now on run() returns these batches of the epoch, in this order, and works ahead over them; then those of
  // further calls. With none left it throws Error of kind `stopped`. seek() and reset() end this.
  void schedule_batches(uint64_t epoch, std::span<const int64_t> batches);
  // From now on all batches except the last have this size; call it before the first run.
  void set_refill(int batch_size);
  void reset(const std::function<void()>& poll = {});  // after `stopped`: external sources begin again
  // In the middle of an epoch: drops what is in flight and begins the next epoch; at the end of one, the same.
  void begin_epoch(const std::function<void()>& poll = {});

  std::optional<ReaderMeta> reader_meta(const std::string& name = {}) const;  // of the named or the only reader
  int64_t epoch_size(const std::string& name = {}) const;
  int64_t batches_per_epoch() const;
  std::optional<FirstEpoch> first_epoch() const;  // of the source that gives the ids
  bool at_end_of_epoch() const;                   // after the last run(), even if it failed
  void set_epoch_mode(EpochMode mode);            // before the first run

  // The samples of the primary source that come next draw what these drew, one after the other and again from the
  // first one; none: what they draw by themselves. Error (argument) while batches are in flight.
  void replay(std::vector<DrawOrigin> origins);
  // Called after each step of all batches, with `stepping`; before the first run.
  void watch_steps(AfterStep after);
  // While it runs: so many of its threads work, the others sleep, and so many batches are in flight at most, of those
  // that the options allow. The batches do not change.
  void tune(int threads, int depth);
  void log_steps();  // of all batches that begin later: PipelineOutput::logs

  // State after the last batch that run() returned: JSON with a few integers. Call restore() before the first run.
  std::string checkpoint() const;
  void restore(const std::string& state);

  PipelineStatistics statistics() const;
  void start_trace();
  std::string trace_json() const;
  // Samples that the error policy skipped or replaced since the pipeline was made; PipelineOutput has those of a batch.
  std::vector<LeftOut> left_out() const;

  // The saved form: graph and options; loads without Python.
  std::string to_json() const;
  // `change` may modify the options before the pipeline is made. A stored path of an entropy index is ignored: a saved
  // pipeline must not create a file that the caller did not name. Its readers read the files that it names.
  static std::unique_ptr<Pipeline> from_json(const std::string& text,
                                             const std::function<void(PipelineOptions&)>& change = {});

 private:
  void refuse_late(const char* what) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
