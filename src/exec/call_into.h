// SPDX-License-Identifier: Apache-2.0
// Results of immediate calls in memory that the caller gives.
#pragma once
#include <span>

#include "ops/machine/argument.h"

namespace penstock {

// Throws where `target` cannot hold what `out` is: element type, rank, number of samples.
void check_target(const Batch& out, const Batch& target);
// Sample i of `out`, whose shape is set, has the memory of target's sample i; throws where that has another shape or
// holes.
void use_memory(Batch& out, const Batch& target, int i);
void use_memory(Batch& out, const Batch& target);  // all samples
// Throws where a sample of `into` shares memory with another one of them, with an input or with an argument. Calls read
// while they write, on several threads.
void check_overlap(std::span<const Batch> inputs, std::span<const Argument> args, std::span<const Batch* const> into);

}  // namespace penstock
