// SPDX-License-Identifier: Apache-2.0
// Copies whose short runs alternate in the target.
#pragma once
#include <span>

#include "cuda/whole/device_work.h"
#include "cuda/whole/kernels/interleave.h"

namespace penstock {

// Adds the first of the steps, all of one size of elements, that fill a dense target by turns. How many they are; 0:
// the first one does not begin such a target.
size_t add_interleaved(std::span<const CopyStep> steps, EntryTable<whole::InterleaveRow>& entries);

}  // namespace penstock
