// SPDX-License-Identifier: Apache-2.0
// Bilateral means on the CPU: rows of each channel become float32 and stay in cache until no window sees them.
#pragma once
#include <span>

#include "base/target.h"
#include "families/window/kernels/bilateral.h"
#include "operator/image_work.h"

namespace penstock::window {

// `images` of them follow each other. The taps reach as far as `reach`. Elements are of a type that float32 holds.
void bilateral_rows(Target target, DType dtype, const BilateralRow& row, std::span<const BilateralTap> taps, int reach,
                    int64_t images);

}  // namespace penstock::window
