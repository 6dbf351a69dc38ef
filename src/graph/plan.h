// SPDX-License-Identifier: Apache-2.0
// From a graph to steps that an executor runs in order; graph/passes.h has the passes on the way.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace penstock {

struct Step {
  enum class Kind { source, read, whole, stage, transfer, decode, control, call } kind = Kind::whole;
  std::vector<int> nodes;        // of the graph, in order
  std::vector<ValueRef> inputs;  // values that the step reads; a stage's first is the one that maps apply to
  ValueRef output;               // of stages, reads, transfers, decodes; others give all outputs of nodes[0]
  bool lazy_source = false;      // stage, decode: reads and decodes the files of a reader itself
  bool gpu = false;              // stage, decode, transfer: the output is there
  bool regions = false;          // decode: only what the next step, a stage, reads of the pictures
  // Parts of a node of control flow; the steps of its bodies lie between them.
  enum class Flow : uint8_t {
    begin_branch,
    begin_else,
    end_branch,
    begin_loop,
    test_loop,
    repeat_loop,
    end_loop,
    unset,
    change
  };
  Flow flow = Flow::unset;
  int target = -1;  // where begin_branch, test_loop and repeat_loop jump to
  int repeat = -1;  // repeat_loop: behind begin_loop
  // Values from outside that the steps of the body read, or of the loop; test_loop: those of the test that the body
  // reads.
  std::vector<ValueRef> captured;
  // Whole, stage: nobody wants the first input behind the step, so that the output may take its memory, where that is
  // nobody else's (works_in_place()).
  bool reuses = false;
  bool assigns = false;  // works_in_place(), whether or not it may here
  // Begin of a branch: those of `captured` that nobody wants behind the branch; of a loop: such values that it begins
  // with; end of a branch: such values that are its results. Where memory is reused they are handed over, not shared.
  std::vector<ValueRef> given;
  bool parts = false;   // begin of a loop: its body reuses memory, sample by sample
  int domain = 0;       // whose samples it runs on
  std::string reason;   // transfer: why it is there
  int moved_for = -1;   // transfer: the node that made it needed; -1: the user asked for it
  bool pinned = false;  // the output only goes on to the GPU; transfer: the input is such a one
};

struct PlanOptions {
  bool fuse = true;                  // several operators in one stage
  bool push_down = true;             // maps behind a decoder join its stage, so that it decodes just what is needed
  bool gpu = false;                  // there is one; else everything stays on the CPU
  std::map<int, bool> gpu_decoders;  // nodes that a decoder of the GPU works for; whether it takes regions
};
// PENSTOCK_EXEC=simple runs operator by operator; PENSTOCK_PUSH_DOWN=0 keeps decoders alone.
PlanOptions plan_options_from_environment();

struct Plan {
  PlanOptions options;  // that it was made with
  Graph graph;          // with every node and every value in its place
  std::vector<Step> steps;
  std::vector<std::pair<ValueRef, int>> value_last_use;  // value, index of the last step that reads it
  std::string step_text(size_t i) const;                 // "stage: %1 decoders.image %2 resize (reads files)"
  std::string text() const;                              // one line a step
  bool uses_gpu() const;
  int region_of(const Step& s) const;  // the body whose steps it stands among
};

struct PassText {
  std::string pass;  // "trace" is the graph as it was written; then the passes in their order
  std::string text;  // what there is after it
};

// `texts`, if given, receives the text after each pass.
Plan make_plan(const Graph& g, const PlanOptions& options, std::vector<PassText>* texts = nullptr);

}  // namespace penstock
