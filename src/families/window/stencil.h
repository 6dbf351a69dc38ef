// SPDX-License-Identifier: Apache-2.0
// The family's stencil: an operator that needs the neighbors of each element of an image, in any way. It gives
//
//     struct Rule {
//       PENSTOCK_PIXEL(struct Coef { ... };);
//       PENSTOCK_STENCIL(
//       template <class V, class Near> PENSTOCK_HD static V result(const Near& near, const Coef&) { ... });
//     };
//
// and calls window::stencil<Rule>(in, out, window, coef, to) in work(). near(dy, dx) is the element dy rows down and dx
// pixels to the right of the output's one, in the same channel and within the window, as a V.
//
// V is float on a GPU, where a block has its part of the image in shared memory, and a vector of floats on the CPU:
// result() is compiled for each target and makes neighbors of a row at once. So it
// - has loops and conditions over dy, dx and coefficients, which are the same for all elements;
// - computes by + - * / and chooses by `a < b ? x : y` of two V, which are computed both;
// - begins with `V{}`, which is 0, and `V{} + c.number`; calls no function and converts nothing.
// Sums have the order of the text on both devices.
//
// Types: those that float32 holds, see has_stencils(); the result is rounded and saturated to the output's type, which
// is that of the input or float32. Views are dense. docs/how_to/add_a_window_operator.md types such an operator.
#pragma once
#include "base/intrinsics.h"
#include "base/target_members.h"
#include "families/window/stencil_rows.h"
#include "operator/kernel_step.h"

namespace penstock::window {

#define PENSTOCK_STENCIL(...)          \
  PENSTOCK_TARGET_MEMBERS(__VA_ARGS__) \
  static constexpr const char* stencil_text = #__VA_ARGS__

#define PENSTOCK_LOOPS stencil_loops
#define PENSTOCK_LOOPS_TEXT "families/window/stencil_loops.inc.h"
#include "base/foreach_target.h"

template <class Rule> StencilRun stencil_run(Target target) {
  using Coef = typename Rule::Coef;
  return target == Target::avx512 ? &stencil_loops_avx512::run<typename Rule::Of_avx512, Coef>
         : target == Target::avx2 ? &stencil_loops_avx2::run<typename Rule::Of_avx2, Coef>
                                  : &stencil_loops_scalar::run<typename Rule::Of_scalar, Coef>;
}
template <class Rule> std::string stencil_text() {
  return std::string(ImageRule::image_text) + Rule::pixel_text + Rule::stencil_text;
}

// A window that reaches as far to both sides. `layout` has H and W.
inline Window around(const View& v, int64_t across, int64_t down, int border) {
  Window w{image_extents(v.shape, v.layout), 2 * across + 1, 2 * down + 1, across, down, border};
  w.image.outer *= w.image.depth, w.image.depth = 1;
  return w;
}

// The tiles with the fewest elements to read for one of the output. False: a block has no memory for a window.
template <class Row> bool stencil_tiles(const Window& w, Row& r, int64_t& count, size_t& shared_bytes) {
  constexpr int64_t kMost = kBlockBytes / sizeof(float);
  double least = 0;
  count = 0;
  for (const int64_t wide : {128, 64, 32})
    for (const int64_t high : {32, 16, 8}) {
      const int64_t columns = wide + (w.width - 1) * w.image.inner, rows = high + w.height - 1;
      if (columns > kMost || rows > kMost || columns > kMost / rows) continue;
      double read = static_cast<double>(columns * rows) / static_cast<double>(wide * high);
      if (2 * columns * rows > kMost) read *= 1.3;  // several blocks at once hide the memory's latency
      if (count > 0 && read >= least) continue;
      least = read;
      r.tile_width = static_cast<int32_t>(wide), r.tile_height = static_cast<int32_t>(high);
      r.tiles_across = (w.image.width * w.image.inner + wide - 1) / wide;
      r.tiles_down = (w.image.height + high - 1) / high;
      count = r.tiles_across * r.tiles_down * w.image.outer;
      shared_bytes = static_cast<size_t>(columns * rows) * sizeof(float);
    }
  r.height = w.image.height, r.width = w.image.width, r.channels = w.image.inner;
  r.left = static_cast<int32_t>(w.x), r.above = static_cast<int32_t>(w.y);
  r.window_width = static_cast<int32_t>(w.width), r.window_height = static_cast<int32_t>(w.height);
  r.border = w.border;
  return count > 0;
}

// Outside a constant border are zeros. Throws where a block of a GPU has no memory for the window, on the CPU, too:
// 12,288 elements of the tile of 32 x 8 and what its windows see beside it.
template <class Rule> void stencil(const View& in, const View& out, const Window& w, const typename Rule::Coef& coef,
                                   SampleWork& to) {
  if (out.volume() == 0) return;
  StencilRow<typename Rule::Coef> row{};
  KernelStep step;
  if (!stencil_tiles(w, row, step.work, step.shared_bytes))
    bad_argument("a window of {} x {} elements with {} channels is too large", w.width, w.height, w.image.inner);
  row.in = in.data, row.out = out.data, row.coef = coef;
  step.kernel = {
      "families/window/kernels/stencil.h", "window::stencil", {in.dtype, out.dtype}, {}, &stencil_text<Rule>, 1};
  step.row = row_bytes(row);
  step.host = [=] {
    const Target target = best_target();
    stencil_rows(stencil_run<Rule>(target), &coef, in, out, w, target, w.image);
  };
  to.kernel(std::move(step));
}

// Operators on images of types that have stencils.
struct StencilOperator : ImageOperator {
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && !has_stencils(in[0].dtype))
      bad_type("expected elements of 8 or 16 bits or float32, got {}", name_of(in[0].dtype));
  }
};

}  // namespace penstock::window
