// SPDX-License-Identifier: Apache-2.0
// The weights of Gaussian windows for many samples at once, with vector instructions. A window has the same bits alone
// and in a group, and on every processor.
#pragma once
#include <span>

namespace penstock {

// Normalized windows of odd `size`, contiguous: sigmas.size() * size weights. sigma <= 0: derived from size.
void gaussian_windows(std::span<const float> sigmas, int size, float* to);

}  // namespace penstock
