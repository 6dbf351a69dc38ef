// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "batch/batch.h"
#include "device/batch_stage.h"

namespace penstock {

// BatchStageRunner::run() on the CPU, for stages without a GPU kernel: copies the inputs to the host
// and the outputs back. Waits for the inputs, and works only on the calling thread.
void run_stage_on_host(const StageProgram& program, const BatchStageCall& call, std::span<Batch> outputs,
                       std::vector<SampleError>& errors);

}  // namespace penstock
