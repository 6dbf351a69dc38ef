// SPDX-License-Identifier: Apache-2.0
#include "cuda/stage.h"

#include "base/error.h"

namespace penstock {

std::unique_ptr<BatchStageRunner> make_gpu_stage(const StageProgram&, Driver&) {
  fail(ErrorKind::internal, "stages on the GPU are not written yet");
}

}  // namespace penstock
