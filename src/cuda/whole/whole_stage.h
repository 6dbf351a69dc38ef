// SPDX-License-Identifier: Apache-2.0
// A whole operator on the GPU: shapes are computed on the host, samples become steps, steps become a few kernels.
#pragma once
#include "cuda/runtime/driver.h"
#include "device/batch_stage.h"
#include "stage/program.h"

namespace penstock {

bool has_whole_form(const std::string& op);
bool is_whole(const StageProgram& program);  // of one such operator
std::unique_ptr<BatchStageRunner> make_whole_stage(const StageProgram& program, Driver& driver);

}  // namespace penstock
