// SPDX-License-Identifier: Apache-2.0
// Batch number i of a pipeline: the sources compute where it begins, so nothing before it is made.
#pragma once
#include <span>

#include "exec/executor.h"

namespace penstock {

// See Pipeline::seek() and Pipeline::schedule_batches().
void seek(Executor& e, uint64_t epoch, int64_t batch, bool replay, const JobConsumer::Poll& poll);
void schedule_batches(Executor& e, uint64_t epoch, std::span<const int64_t> batches);
// Nothing is in flight: the pipeline goes on after the last batch that was returned.
void go_back(Executor& e);

}  // namespace penstock
