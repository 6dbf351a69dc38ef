// SPDX-License-Identifier: Apache-2.0
// Copies between the host and the GPU on an iteration's stream. A thread never waits for the device.
#pragma once
#include "exec/step_context.h"

namespace penstock {

Batch of_same_shapes(const Batch& b);  // without memory
// output: it counts as memory of an output. A batch that lies on the host is copied by this thread into pinned memory
// first.
Batch to_gpu(const StepContext& c, Iteration& it, const Batch& from, bool output);
// It lands after the call has returned: the iteration waits for that.
Batch to_host(const StepContext& c, Iteration& it, const Batch& from, bool output);

}  // namespace penstock
