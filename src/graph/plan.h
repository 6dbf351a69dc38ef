// SPDX-License-Identifier: Apache-2.0
// From a graph to steps that an executor runs in order; graph/passes.h has the passes on the way.
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
  PlanOptions options;     // that it was made with
  std::vector<Step> steps;
  std::vector<std::pair<ValueRef, int>> value_last_use;  // value, index of the last step that reads it
  std::string step_text(const Graph& g, size_t i) const;  // "stage: %1 decoders.image %2 resize (reads files)"
  std::string text(const Graph& g) const;                  // one line a step
};

struct PassText {
  std::string pass;  // "trace" is the graph as it was written; then the passes in their order
  std::string text;  // what there is after it
};

// `texts`, if given, receives the text after each pass.
Plan make_plan(const Graph& g, const PlanOptions& options, std::vector<PassText>* texts = nullptr);

}  // namespace penstock
