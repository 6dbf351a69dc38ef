// SPDX-License-Identifier: Apache-2.0
// Medians of windows on the CPU; the image is extended by repeating its edge. Widths and heights are odd.
#pragma once
#include "base/target.h"
#include "families/window/geometry.h"
#include "families/window/median_keys.h"

namespace penstock::window {

// 3 x 3 and 5 x 5: sorting networks on vectors.
void median_network(Target target, DType dtype, const void* in, void* out, const ImageRule::Extents& image, int size);
// Any window, of elements of one byte: by counts, in a time that hardly grows with the window.
void median_of_bytes(Target target, DType dtype, const void* in, void* out, const ImageRule::Extents& image,
                     int64_t width, int64_t height);

}  // namespace penstock::window
