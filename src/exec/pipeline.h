// SPDX-License-Identifier: Apache-2.0
// A running pipeline: a graph with its sources, threads and queue of finished batches.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/replacement.h"
#include "exec/callback.h"
#include "exec/external_source.h"
#include "exec/statistics.h"
#include "graph/plan.h"

namespace penstock {

// Whose function of the program this thread is in; null: of none. A function that deals its work to threads of its own
// tells them with call_for_pipeline(), so that they are not waited for by themselves either.
const void* calling_pipeline();
void call_for_pipeline(const void* pipeline);

constexpr int kDefaultGpu = -1;  // the first one
constexpr int kNoGpu = -99999;   // operators that are asked for on a GPU are an error

struct PipelineOptions {
  int batch_size = 1;
  int threads = 0;   // 0: usable_cores()
  int prefetch = 2;  // iterations in flight or waiting, at least 1
  // Bytes of batches; 0: none. Prefetching stops short of it; a batch that alone is larger is an error before it is
  // made.
  size_t memory_limit = 0;
  // Of a picture or a frame, of a sequence, of a recording: what decoders and readers go by that were not given a limit
  // of their own; 0: theirs.
  int64_t max_pixels = 0, max_frames = 0, max_samples = 0;
  EpochMode epoch_mode = EpochMode::stream;
  OnError on_error = OnError::raise;
  int64_t error_budget = -1;  // samples an epoch may lose; -1: no limit
  bool uneven = false;        // on_error skip with several shards
  // Entropy indexes of JPEG files, so that later epochs decode only what a crop needs: "off"; "read": used where there
  // are some; "auto": made as well; or the path of the file to make and use. "": PENSTOCK_ENTROPY_INDEX, else "auto".
  std::string entropy_index;
  int device = kDefaultGpu;                // GPU of the operators that run on one
  bool one_stream = false;                 // on the GPU, for all iterations
  std::shared_ptr<MemoryResource> memory;  // default: a pool of its own
};

struct PipelineOutput {
  std::vector<Batch> batches;        // in the order of the graph's outputs
  std::vector<SampleOrigin> origin;  // of the samples
  bool end_of_epoch = false;         // of a reader that cuts its epochs
  int taken = 0;                  // samples of the primary source that went into it, also those that fn.filter dropped
  int source_batches = 0;         // and batches
  std::vector<LeftOut> left_out;  // samples of them that the error policy skipped or replaced
};

// Functions that change a pipeline are for one thread at a time, and not for the program's functions inside of it: such
// calls throw ErrorKind::argument.
class Pipeline {
 public:
  Pipeline(Graph graph, PipelineOptions options);
  ~Pipeline();  // waits for the running tasks
  // Ends the threads: waits for what they do, but for functions of the program only as long as this. True: all have
  // ended, and the destructor has nothing to wait for. The pipeline gives nothing more.
  bool stop(std::chrono::milliseconds patience);
  const Graph& graph() const;
  const PipelineOptions& options() const;
  std::string plan_text() const;
  std::vector<PassText> pass_texts() const;  // the way from the graph to the plan, pass by pass
  // Behind an external_source node, before the first run.
  void set_feed(int node, std::shared_ptr<ExternalFeed> feed);
  // Behind a python_function or numba_function node, before the first run.
  void set_callback(int node, std::shared_ptr<Callback> callback);
  // feed_input(): `node` must have no feed of its own. Returns how many iterations it gives.
  int64_t feed(int node, std::vector<Batch> batches);

  // The next batch; starts prefetching behind it. Throws what a sample or operator threw (the pipeline stays usable),
  // or Error of kind `stopped` at the end of the data. `poll` is called about every 50 ms while waiting; it may throw.
  PipelineOutput run(const std::function<void()>& poll = {});
  // run() in two parts.
  // soon: the same thread calls outputs() next.
  void schedule(bool soon = false);
  PipelineOutput outputs(const std::function<void()>& poll = {});
  // From now on all batches have this size, but for the last one; before the first run.
  void set_refill(int batch_size);
  void reset(const std::function<void()>& poll = {});  // after `stopped`: external sources begin again
  // In the middle of an epoch: lets go of what is on its way and begins the next one; at the end of one it is the next.
  void begin_epoch(const std::function<void()>& poll = {});

  std::optional<ReaderMeta> reader_meta(const std::string& name = {}) const;  // of the named or the only reader
  int64_t epoch_size(const std::string& name = {}) const;
  int64_t batches_per_epoch() const;
  std::optional<FirstEpoch> first_epoch() const;  // of the source that gives the ids
  bool at_end_of_epoch() const;                   // after the last run(), also one that has failed
  void set_epoch_mode(EpochMode mode);            // before the first run

  // State behind the last batch that run() returned: JSON of a few integers. restore() before the first run.
  std::string checkpoint() const;
  void restore(const std::string& state);

  PipelineStatistics statistics() const;
  void start_trace();
  std::string trace_json() const;
  // Samples that the error policy skipped or replaced since the pipeline was made; PipelineOutput has those of a batch.
  std::vector<LeftOut> left_out() const;

  // The saved form: graph and options; loads without Python.
  std::string to_json() const;
  // `change` may alter the options before the pipeline is made. A stored path of an entropy index is not used: a saved
  // pipeline makes no file that the caller did not name. Its readers read what it says.
  static std::unique_ptr<Pipeline> from_json(const std::string& text,
                                             const std::function<void(PipelineOptions&)>& change = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
