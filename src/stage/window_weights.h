// SPDX-License-Identifier: Apache-2.0
// Weights of the convolutions of samples whose geometry is the same but for them.
#pragma once
#include <span>

#include "operator/bound_op.h"

namespace penstock {

// Leaves one window where all are the same.
void join_windows(AxisWindows& windows);
// Windows of weights that sum to 1, none so small that a kernel has to care: samples whose windows have the same sizes,
// and are all like that, have the same geometry but for the weights.
bool are_plain(const AxisWindows& windows);
bool are_plain(std::span<const float> weights, int size);  // windows of one size, contiguous

}  // namespace penstock
