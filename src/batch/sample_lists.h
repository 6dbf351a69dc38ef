// SPDX-License-Identifier: Apache-2.0
// Batches of some samples of other batches.
#pragma once
#include <span>

#include "batch/batch.h"

namespace penstock {

// The chosen samples, which share their memory with the batch; a sample may be chosen several times.
Batch gathered(const Batch& from, std::span<const int> chosen);
// A batch of `size` samples without values, of the same type and on the same device.
Batch empty_like(const Batch& like, int size);
// Sample i of `from` takes the place `to` of a batch whose other samples come from elsewhere.
void scatter(const Batch& from, int i, Batch& into, int to);
// A batch of `size` samples that has the samples of `from` at the given places; the others have no value.
Batch spread(const Batch& from, std::span<const int> places, int size);
// The samples that have a value: an `if` may set a variable for only some of them.
std::vector<int> samples_with_values(const Batch& b);
bool every_sample_has_a_value(const Batch& b);
// The scalar value of sample i: an integer, or whether it is not 0.
int64_t scalar(const Batch& b, int i, const char* what);

}  // namespace penstock
