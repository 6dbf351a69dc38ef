// SPDX-License-Identifier: Apache-2.0
// A graph that runs while it grows (debug=True): each node runs when it is added, by the steps that a pipeline has for
// it, on values and samples that the caller names. Which samples those are, conditions and loops are the caller's.
#pragma once
#include <map>
#include <memory>

#include "exec/callback.h"
#include "exec/pipeline.h"

namespace penstock {

// What a node runs on.
struct SteppedInputs {
  std::map<ValueRef, Batch> values;  // that it reads, of its samples; a value that is not there has no samples' values
  std::vector<SampleOrigin> origin;  // of its samples, of which there are some
  std::vector<int> places;           // of those in the batch of the sources
  uint64_t trips_key = 0;            // of the loops around it
  bool in_body = false;              // of a condition or loop
  std::shared_ptr<Callback> function{};  // that it calls
};

struct SteppedOutputs {
  std::vector<Batch> batches;
  // Where the node changes samples: from which of its samples each one was made, and the new ones.
  std::vector<int> from;
  std::vector<SampleOrigin> origin;
  bool left_out = false;  // a filter leaves the batch out
};

class SteppingGraph {
 public:
  // The options are a pipeline's: its limits, its device, its size of batches.
  explicit SteppingGraph(PipelineOptions options);
  ~SteppingGraph();
  SteppingGraph(const SteppingGraph&) = delete;
  // A node of a graph, which is an operator, a function or a change of samples. Throws its error, also one of a sample.
  SteppedOutputs run(const Graph& graph, int node, SteppedInputs inputs);

 private:
  struct Alone;
  Alone& alone(const Graph& graph, int node, const SteppedInputs& inputs);

  PipelineOptions options_;
  std::map<int, std::unique_ptr<Alone>> made_;  // by node; the next batch has mostly the same
};

}  // namespace penstock
