// SPDX-License-Identifier: Apache-2.0
// Samples one after another.
#pragma once
#include "batch/batch.h"

namespace penstock {

// Whether the samples follow each other in one memory, without gaps. The batch is not empty.
bool lies_in_a_row(const Batch& b);
// The samples one after another along their first dimension; no copy if they are so in memory. Throws ErrorKind::type
// if their other extents differ.
Tensor joined_samples(const Batch& b);

}  // namespace penstock
