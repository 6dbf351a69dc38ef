// SPDX-License-Identifier: Apache-2.0
// From a graph to steps that an executor runs in order; the passes on the way are in graph/passes.h.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace penstock {

struct Step {
  enum class Kind { source, read, whole, stage, transfer, decode, control, call } kind = Kind::whole;
  std::vector<int> nodes;        // of the graph, in order
  std::vector<ValueRef> inputs;  // values that the step reads; maps apply to a stage's first one
  ValueRef output;               // for stages, reads, transfers, decodes; others output all values of nodes[0]
  bool lazy_source = false;      // stage, decode: reads and decodes a reader's files itself
  bool gpu = false;              // stage, decode, transfer: the output is on the GPU
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
  int target = -1;  // jump target of begin_branch, test_loop and repeat_loop
  int repeat = -1;  // repeat_loop: the step after begin_loop
  // Outside values that the steps of the body or the loop read; test_loop: those values of the test that the body
  // reads.
  std::vector<ValueRef> captured;
  // Whole, stage: the first input is not needed after the step. So the output may use its memory, if nobody
  // else holds it (OpInfo::in_place).
  bool reuses = false;
  bool assigns = false;  // OpInfo::in_place, whether or not it is allowed here
  // Begin of a branch: those of `captured` that are not needed after the branch; of a loop: such values that it begins
  // with; end of a branch: such values among its results. Where memory is reused they are moved, not shared.
  std::vector<ValueRef> given;
  bool parts = false;   // begin of a loop: its body reuses memory, sample by sample
  int domain = 0;       // the samples that it runs on
  std::string reason;   // transfer: why it exists
  int moved_for = -1;   // transfer: the node that required it; -1: the user asked for it
  bool pinned = false;  // the output is only copied to the GPU; transfer: the input is such a value
};

struct PlanOptions {
  bool fuse = true;                  // several operators in one stage
  bool push_down = true;             // maps after a decoder join its stage, so that it decodes only what is needed
  bool gpu = false;                  // a GPU is available; else everything stays on the CPU
  bool reads_apart = false;          // a step of its own reads the files that a GPU decodes
  std::map<int, bool> gpu_decoders;  // nodes that a GPU decoder runs; whether it accepts regions
};
// PENSTOCK_EXEC=simple and =stepping run operator by operator; PENSTOCK_PUSH_DOWN=0 keeps decoders alone.
PlanOptions plan_options_from_environment();

struct Plan {
  PlanOptions options;  // that it was made with
  Graph graph;          // with every node and every value in its place
  std::vector<Step> steps;
  std::vector<std::pair<ValueRef, int>> value_last_use;  // value, index of the last step that reads it
  std::string step_text(size_t i) const;                 // "stage: %1 decoders.image %2 resize (reads files)"
  std::string text() const;                              // one line per step
  bool uses_gpu() const;
  int region_of(const Step& s) const;  // the body that contains the step
};

struct PassText {
  std::string pass;  // "trace" is the graph as written; then the passes in order
  std::string text;  // the result of the pass
};

// `texts`, if given, receives the text after each pass.
Plan make_plan(const Graph& g, const PlanOptions& options, std::vector<PassText>* texts = nullptr);

}  // namespace penstock
