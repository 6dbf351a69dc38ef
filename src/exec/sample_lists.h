// SPDX-License-Identifier: Apache-2.0
// What steps share that run on a part of a batch, or make another one of it.
#pragma once
#include <span>

#include "batch/batch.h"

namespace penstock {

// The chosen samples, which share their memory with the batch; one may be chosen several times.
Batch gathered(const Batch& from, std::span<const int> chosen);
// A batch of `size` samples in which those of `from` have the given places; the others have no value.
Batch spread(const Batch& from, std::span<const int> places, int size);
// The samples that have a value: behind an `if`, a variable may be set for some of them alone.
std::vector<int> samples_with_values(const Batch& b);
bool every_sample_has_a_value(const Batch& b);
// The one number of sample i: a whole one, or whether it is not 0.
int64_t scalar(const Batch& b, int i, const char* what);

}  // namespace penstock
