// SPDX-License-Identifier: Apache-2.0
// A stage on the GPU: one kernel over a table of samples, its text emitted from the stage's code.
#pragma once
#include "cuda/runtime/driver.h"
#include "device/batch_stage.h"
#include "stage/program.h"

namespace penstock {

std::unique_ptr<BatchStageRunner> make_gpu_stage(const StageProgram& program, Driver& driver);

}  // namespace penstock
