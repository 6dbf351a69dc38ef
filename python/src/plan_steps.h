// SPDX-License-Identifier: Apache-2.0
// The steps of a plan as Python's values, for pictures of a pipeline.
#pragma once
#include "bindings.h"
#include "graph/plan.h"

namespace penstock::python {

// A dict for each step: text, kind, nodes, whether its result is on a GPU; of a transfer, what it copies and why.
nb::list list_of_steps(const Plan& plan);

}  // namespace penstock::python
