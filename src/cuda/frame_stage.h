// SPDX-License-Identifier: Apache-2.0
// A stage whose source is a frame of luma and chroma (operator/pixel_source.h), on the GPU.
#pragma once
#include "cuda/runtime/driver.h"
#include "device/batch_stage.h"

namespace penstock {

bool begins_with_frames(const StageProgram& program);
std::unique_ptr<BatchStageRunner> make_frame_stage(const StageProgram& program, Driver& driver);

}  // namespace penstock
