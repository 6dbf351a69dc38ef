// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "tensorflow/status.h"

namespace penstock::tensorflow {

TF_DataType type_of(penstock_dtype dtype);
// PENSTOCK_NONE: Penstock has no such type.
penstock_dtype dtype_of(TF_DataType type);
size_t size_of(penstock_dtype dtype);

// What a batch becomes: one tensor (samples, extents ...) over the memory of the batch, where its samples lie together.
// rank: of a sample, for a batch without samples. what: names the output in messages.
std::vector<TensorHandle> dense(BatchHandle batch, int rank, const std::string& what);
// Or two: the elements of all samples one after the other, and the extents of the samples, int64 (samples, rank).
std::vector<TensorHandle> ragged(BatchHandle batch, int rank);

}  // namespace penstock::tensorflow
