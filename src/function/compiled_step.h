// SPDX-License-Identifier: Apache-2.0
// A plan with its values as numbers: what a call looks up without a search.
#pragma once
#include <map>
#include <vector>

#include "graph/plan.h"

namespace penstock {

struct CompiledStep {
  const Step* step = nullptr;
  std::vector<int> inputs;      // slots of Step::inputs
  std::vector<int> outputs;     // slots of all values that the step makes
  std::vector<ValueRef> sizes;  // of a stage: those after the first
  bool constant = true;         // no operator has an argument with a value for each sample
};

struct CompiledPlan {
  std::map<ValueRef, int> slots;    // a place for each value
  std::vector<CompiledStep> steps;  // of the plan, in order
  std::vector<int> inputs;          // slots of the function's inputs; -1: nothing reads it
  std::vector<char> input_on_gpu;   // the plan wants it there
  std::vector<int> outputs;         // slots of the function's outputs
  bool has_control = false;         // branches or loops
  bool uses_gpu = false;
  int slot(ValueRef v) const { return slots.at(v); }
};

// Error (argument), with the user's line, for a step that a function cannot have.
CompiledPlan compiled_plan(const Plan& plan);

}  // namespace penstock
