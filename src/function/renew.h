// SPDX-License-Identifier: Apache-2.0
// Batches that are used again by the next call: one of the same kind and size keeps its list of samples.
#pragma once
#include "batch/batch.h"

namespace penstock {

// Becomes a batch of `size` samples without memory.
void renew(Batch& b, DType dtype, int ndim, const Layout& layout, int size);
// Owns nothing from now on.
void let_go(Batch& b);

}  // namespace penstock
