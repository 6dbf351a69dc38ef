// SPDX-License-Identifier: Apache-2.0
// Values that are equal for all samples, in one memory.
#pragma once
#include "batch/batch.h"
#include "graph/plan.h"

namespace penstock {

// Whether operators alone read the value, and do not write to it, so that nobody gets its memory. Control flow and the
// program's functions may hand it on.
bool read_by_operators_alone(const Plan& plan, ValueRef v);
// Whether the step makes a value that is equal for all samples and that operators alone read.
bool makes_one_value(const Plan& plan, const Step& step);

// Whether the samples, of which there are several, are one memory.
bool is_one_memory(const Batch& b);
// A batch of `size` samples that are all the first one.
Batch repeated(const Batch& one, int size);

}  // namespace penstock
