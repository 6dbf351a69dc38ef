// SPDX-License-Identifier: Apache-2.0
// The operators of a step as the program of a stage.
#pragma once
#include <span>
#include <vector>

#include "exec/step_context.h"
#include "stage/program.h"

namespace penstock {

std::vector<ValueType> types_of(const Iteration& it, std::span<const ValueRef> inputs);
// Outputs after the first one: the sizes that operators have read.
std::vector<ValueRef> size_outputs(const Plan& plan, const Step& s);
StageProgram program_of(const StepContext& c, Iteration& it, const Step& s, std::vector<ValueType> inputs,
                        const std::vector<ValueRef>& sizes);
// A stage of this step serves all iterations, ...
bool has_constant_arguments(const Plan& plan, const Step& s);
// ... whose inputs are like these.
bool fits(const StageProgram& program, std::span<const ValueType> types);

}  // namespace penstock
