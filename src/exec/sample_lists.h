// SPDX-License-Identifier: Apache-2.0
// What steps share that run on a part of a batch, or make another one of it.
#pragma once
#include <span>

#include "batch/batch.h"

namespace penstock {

// The chosen samples, which share their memory with the batch; one may be chosen several times.
Batch gathered(const Batch& from, std::span<const int> chosen);
// The one number of sample i: a whole one, or whether it is not 0.
int64_t scalar(const Batch& b, int i, const char* what);
uint64_t mixed(uint64_t x);

}  // namespace penstock
