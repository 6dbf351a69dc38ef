// SPDX-License-Identifier: Apache-2.0
// Rules over neighborhoods on the CPU: rows become float32, with what windows see beside them, and stay in cache until
// no window sees them. The rule runs for a vector of neighbors in a row at once.
#pragma once
#include "families/window/kernels/stencil.h"
#include "families/window/row_ends.h"

namespace penstock::window {

// What a loop may do for the memory. `past_caches`: whole vectors are best written so, where the results are at a
// multiple of them. `next`: the elements of the row that the next call reads first, to be requested; or null.
struct RowMemory {
  bool past_caches = false;
  const float* next = nullptr;
};
// Results of a row for neighbors; rows[0] has the element of the first one, rows[dy] those above and below. A vector
// reads at most kStencilSpare elements more than there are.
using StencilRun = void (*)(float* to, const float* const* rows, int64_t n, int64_t pixel, const void* coef,
                            const RowMemory& memory);
constexpr int64_t kStencilSpare = 16;

// The result is of the input's type or float32. `made`: the extents of `out`, which may be smaller than the image.
// `fill`: an element outside a constant border; null: 0.
void stencil_rows(StencilRun run, const void* coef, const View& in, const View& out, const Window& window,
                  Target target, const ImageRule::Extents& made, const void* fill = nullptr);

// The types that float32 holds.
inline bool has_stencils(DType t) { return size_of(t) <= 2 || t == DType::float32; }

}  // namespace penstock::window
