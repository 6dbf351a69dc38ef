// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/gpu.h"
#include "batch/batch.h"

namespace penstock {

// BatchStageRunner::run() by the CPU, where a GPU can have no kernel for the stage: the inputs are copied to the host
// and the outputs back. Waits for the inputs, and works on the calling thread alone.
void run_stage_on_host(const StageProgram& program, const BatchStageCall& call, std::span<Batch> outputs,
                       std::vector<SampleError>& errors);

}  // namespace penstock
