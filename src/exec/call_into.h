// SPDX-License-Identifier: Apache-2.0
// Results of immediate calls in the caller's memory.
#pragma once
#include <span>

#include "operator/argument.h"

namespace penstock {

// Throws if `target` cannot hold `out`: element type, rank, number of samples.
void check_target(const Batch& out, const Batch& target);
// Gives sample i of `out`, whose shape is set, the memory of target's sample i; throws if that has another shape or
// holes.
void use_memory(Batch& out, const Batch& target, int i);
void use_memory(Batch& out, const Batch& target);  // all samples
// Throws if a sample of `into` shares memory with another one, with an input or with an argument: calls read
// while they write, on several threads.
void check_overlap(std::span<const Batch> inputs, std::span<const Argument> args, std::span<const Batch* const> into);

}  // namespace penstock
