// SPDX-License-Identifier: Apache-2.0
// One batch in a pipeline.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/device_runtime.h"
#include "data/replacement.h"
#include "device/batch_stage.h"
#include "exec/job.h"
#include "exec/late_part.h"
#include "exec/step_log.h"
#include "graph/plan.h"
#include "readers/source_batch.h"

namespace penstock {

// A batch of an epoch of the primary source; it may be beyond the end of the epoch. Where a reader is the primary
// source, of epoch 0.
struct BatchPlace {
  uint64_t epoch = 0;
  int64_t batch = 0;
};

// The samples of one domain of the graph, while a step of another one runs.
struct SampleSet {
  int size = 0;
  std::vector<SampleOrigin> origin;
  std::vector<int> from;  // for samples made by filter() and its kind: their indices in the domain before
};

// A running branch or loop: what its body does not use.
struct Frame {
  int node = -1;                      // of control flow
  int domain = 0;                     // the domain that the frame splits
  int size = 0;                       // samples outside
  std::vector<SampleOrigin> origin;   // their origin; empty while all of them are inside
  std::vector<int> inside, others;    // outer indices of the samples in the body; branch: of the others
  bool all = true;                    // the body has all samples: nothing was split off
  std::map<ValueRef, Batch> outside;  // captured values with all samples
  std::vector<Batch> kept;            // branch: results of `then`; loop: results of samples that have left
  bool ran_else = false;              // branch
  std::vector<int64_t> counts;        // loop: trips of the outer samples, if it is counted
  uint64_t trip = 0;
};

// What an iteration keeps while it is in a step. Each kind of step has its own (exec/steps).
struct StepState {
  virtual ~StepState() = default;
};

// For a pipeline without sources: its samples are numbered without end.
constexpr int kNoSource = -1;

struct Iteration final : Job {
  int size = 0;                     // samples
  std::optional<BatchPlace> place;  // which batch it makes; none: the one after that of the iteration before
  bool end_of_data = false;
  std::vector<SampleOrigin> origin;
  int domain = 0;                      // the domain of `size` and `origin`
  std::map<int, SampleSet> sets;       // by domain
  int taken = 0;                       // samples of the primary source
  bool last_of_epoch = false;          // of the primary source, which cuts its epochs
  bool skipped = false;                // fewer samples are left than fn.filter must output
  std::map<int, SourceBatch> sources;  // by node: of readers; their values are in it while they are loaded
  std::map<ValueRef, Batch> values;    // entries are made when the iteration starts
  std::map<ValueRef, Batch> given;     // on_error="replace": data from sources, for samples that are replaced later
  std::map<int, uint32_t> attempts;    // samples that were replaced, and the number of attempts
  std::map<int, std::string> states;   // of sources, after this iteration; for kNoSource: the next position

  std::vector<Frame> frames;  // the branches and loops that the current step is in
  uint64_t trips_key = 0;     // of the trips of those loops, for random numbers; 0: in none

  int jump = -1;        // the next step, if it is not the following one
  bool on_gpu = false;  // counted among those whose device work may be unfinished

  StreamHandle stream = nullptr;  // of its work on the GPU
  bool must_land = false;         // the current step's result is ready when the stream has passed

  std::mutex error_mutex;
  std::vector<SampleError> errors;        // of the current step
  std::unique_ptr<Error> failure;         // the iteration ends with it
  std::vector<LeftOut> left_out;          // samples that the error policy skipped or replaced
  std::unique_ptr<LatePart> late;         // where samples may come late: which part of the work it is
  std::atomic<bool> no_memory{false};     // the iteration ends because there was no memory even for an error
  std::shared_ptr<StepState> step_state;  // of the current step
  int done_step = -1;                     // without threads: it has ended, and nobody has released its values
  std::shared_ptr<StepLog> log;           // where the pipeline logs steps
  std::weak_ptr<void> slot;               // token of the output memory, guarded by error_mutex
};

}  // namespace penstock
