// SPDX-License-Identifier: Apache-2.0
// Coefficients from arguments that are on the GPU: one kernel before the stage's own folds them, one thread per sample,
// and writes them where the host writes all others. Its text comes from the registry and is the same for all stages: it
// is compiled with the library.
#pragma once
#include "cuda/kernels/fold_text.h"
#include "stage/code.h"

namespace penstock {

// Whether an argument of the stage must be folded on the GPU.
bool has_arguments_on_gpu(const StageCode& code);
bool has_arguments_on_gpu(const FoldedArguments& f);
// The row of a sample, without its offsets. Throws if an argument is not one number.
FoldRow fold_row(const FoldedArguments& f, int64_t op, const SampleContext& context);

}  // namespace penstock
