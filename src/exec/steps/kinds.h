// SPDX-License-Identifier: Apache-2.0
// Makers of steps, one for each kind and for each part of control flow.
#pragma once
#include "exec/steps/step_runner.h"

namespace penstock {

using MakeStep = std::unique_ptr<StepRunner>(StepContext&, size_t index);

MakeStep make_source_step, make_read_step, make_stage_step, make_gpu_stage_step, make_whole_step, make_one_value_step,
    make_transfer_step, make_decode_step, make_call_step;
MakeStep make_begin_branch, make_begin_else, make_end_branch;               // steps/branch.cpp
MakeStep make_begin_loop, make_test_loop, make_repeat_loop, make_end_loop;  // steps/loop.cpp
MakeStep make_unset, make_change;                                           // steps/change.cpp

}  // namespace penstock
