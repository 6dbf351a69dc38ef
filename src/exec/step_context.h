// SPDX-License-Identifier: Apache-2.0
// What the steps of a pipeline share, and what they need of its other parts: all that a step knows of the executor.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "exec/callbacks.h"
#include "exec/gpu_work.h"
#include "exec/iteration.h"
#include "exec/output_memory.h"
#include "exec/pipeline_sources.h"
#include "exec/plan_options.h"
#include "exec/statistics.h"
#include "exec/stepped_step.h"
#include "readers/direct_memory.h"

namespace penstock {

// What a node's operator knows of an iteration's samples. `it` must live as long.
struct SampleContexts {
  const Iteration& it;
  DrawKey draws;
  SampleContext operator()(int sample) const {
    const SampleOrigin& o = it.origin[static_cast<size_t>(sample)];
    const auto [epoch, position] = o.draws();
    return {sample, it.trips_key ^ o.child, epoch, position, draws};
  }
};

// For a step that hands an iteration to somebody else: how it goes on.
class HandOver {
 public:
  virtual ~HandOver() = default;
  virtual void hold(Iteration& it) = 0;                      // no thread touches it from now on
  virtual void run_items(Iteration& it, int64_t items) = 0;  // threads run so many items of its step after all
  virtual void step_done(const std::shared_ptr<Iteration>& it) = 0;
};

class LateSamples;

struct StepContext {
  const Graph& graph;  // as given; its seed may change until the first run
  const Plan& plan;
  const PipelineOptions& options;
  Statistics& statistics;
  PipelineSources& sources;
  Callbacks& callbacks;
  OutputMemory& outputs;
  Engines& engines;                       // until a step has them
  HandOver* hand_over = nullptr;          // of this pipeline
  GpuWork* gpu = nullptr;                 // where a step needs one
  LateSamples* late = nullptr;            // where samples may come late
  std::shared_ptr<DirectMemory> files{};  // where files are read into, if a step does
  int depth = 1;                          // iterations that are in flight at most

  SampleContexts contexts(const Iteration& it, const Node& n) const { return {it, graph.draws_of(n)}; }
  SampleContext context(const Iteration& it, int sample, const Node& n) const { return contexts(it, n)(sample); }
  std::shared_ptr<BoundOp> bind(Iteration& it, const Node& n) const;
  void fill_batch(Iteration& it) const;     // a pipeline without sources makes full batches
  bool has_record(ValueRef encoded) const;  // bytes that are files of a reader
  // The file that a reader names for the sample, or the sample's origin.
  const std::string& path_of(const Iteration& it, ValueRef encoded, int i) const;
  // Memory of the GPU for what the current step of the iteration makes.
  std::shared_ptr<MemoryResource> gpu_memory(Iteration& it, bool output) const;
  std::shared_ptr<MemoryResource> pinned_memory(Iteration& it, bool output) const;

  std::atomic<bool> warned_of_transfer{false};  // of a large one
  std::atomic<bool> logs_steps{false};
  AfterStep after_step{};  // without threads; none: nobody looks
};

// A warning that names the sample, if its file lacks something (DecodeTask::lacking).
void tell_lacking(const StepContext& c, const Iteration& it, int i, const std::string& lacking);

// The data's fault, which the error policy may settle; the caller's and ours are always raised.
bool is_of_data(const Error& e);
// The file or record of a sample in the current step; "": not known.
const std::string& source_of(const StepContext& c, const Iteration& it, int i);
// Names the sample in an error of it.
void name_sample(const StepContext& c, const Iteration& it, int i, Error& e);
// The iteration ends with it; n: whose fault it is, or null.
void fail_iteration(Iteration& it, Error e, const Node* n);

}  // namespace penstock
