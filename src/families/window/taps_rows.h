// SPDX-License-Identifier: Apache-2.0
// Weighted sums of neighbors on the CPU, in float32: rows are converted once, and sums stay in registers over the whole
// window. They are added in the order of the window, row by row, as in kernels/taps.h.
#pragma once
#include "families/window/stencil_rows.h"
#include "families/window/taps.h"

namespace penstock::window {

// For types that have_stencils(); the result is of the input's type or float32.
void taps_rows(const View& in, const View& out, const Taps& w, const float* weights, Target target);

}  // namespace penstock::window
