// SPDX-License-Identifier: Apache-2.0
// From a graph to steps that an executor runs in order: dead nodes are dropped, neighbors become stages.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace penstock {

struct Step {
  enum class Kind { source, read, whole, stage } kind = Kind::whole;
  std::vector<int> nodes;         // of the graph, in order
  std::vector<ValueRef> inputs;   // values that the step reads; a stage's first is the one that maps apply to
  ValueRef output;                // stages have one; others all outputs of nodes[0]
  bool lazy_source = false;       // stage: reads and decodes the files of a reader itself
};

struct PlanOptions {
  bool fuse = true;       // several operators in one stage
  bool push_down = true;  // maps behind a decoder join its stage, so that it decodes just what is needed
};
// PENSTOCK_EXEC=simple runs operator by operator; PENSTOCK_PUSH_DOWN=0 keeps decoders alone.
PlanOptions plan_options_from_environment();

struct Plan {
  std::vector<Step> steps;
  std::vector<std::pair<ValueRef, int>> value_last_use;  // value, index of the last step that reads it
  std::string text(const Graph& g) const;
};

Plan make_plan(const Graph& g, const PlanOptions& options);

}  // namespace penstock
