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

// Samples in one row, as attention of variable length takes them. All on the device of the batch.
struct PackedSamples {
  Tensor values;        // joined_samples()
  Tensor offsets;       // int32, one more than samples: where each begins in the row, and where the last one ends
  Tensor positions;     // int32, as long as the row: the place in its sample of each entry
  int64_t longest = 0;  // entries of the longest sample
};
// Throws ErrorKind::argument on a row of more entries than 32 bits count.
PackedSamples packed_samples(const Batch& b);

}  // namespace penstock
