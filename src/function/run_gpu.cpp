// SPDX-License-Identifier: Apache-2.0
#include "function/function_run.h"

namespace penstock {

void FunctionRun::run_gpu_stage(size_t) { bad_argument("runs on a GPU"); }
void FunctionRun::run_transfer(size_t) { bad_argument("runs on a GPU"); }

}  // namespace penstock
