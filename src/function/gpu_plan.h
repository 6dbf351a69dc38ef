// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "graph/plan.h"

namespace penstock {

// How the graph of a function is planned: with a GPU where an operator asks for one and the machine has one. Decoders
// run on the CPU. Error (argument) for a GPU that is required (PENSTOCK_REQUIRE_GPU) or named but not there.
PlanOptions gpu_plan_options(const Graph& g, int device);

}  // namespace penstock
