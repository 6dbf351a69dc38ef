// SPDX-License-Identifier: Apache-2.0
// The weights of Gaussian windows, of many samples at once by vector instructions: a window has the same bits alone and
// among others, and on any processor.
#pragma once
#include <span>

namespace penstock {

// Windows of odd `size`, normalized, one behind the other: sigmas.size() * size weights. sigma <= 0: the size decides.
void gaussian_windows(std::span<const float> sigmas, int size, float* to);

}  // namespace penstock
