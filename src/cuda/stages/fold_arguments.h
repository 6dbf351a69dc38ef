// SPDX-License-Identifier: Apache-2.0
// Coefficients of arguments that lie on the GPU: one kernel in front of the stage's folds them, a thread a sample, and
// writes them where the host writes all others. Its text is the registry's, the same for all stages: it is compiled
// with the library.
#pragma once
#include "cuda/kernels/fold_text.h"
#include "stage/code.h"

namespace penstock {

// Whether an argument of the stage is to be folded on the GPU.
bool has_arguments_on_gpu(const StageCode& code);
bool has_arguments_on_gpu(const FoldedArguments& f);
// The row of a sample, but for its offsets. Throws where an argument is not one number.
FoldRow fold_row(const FoldedArguments& f, int64_t op, const SampleContext& context);

}  // namespace penstock
