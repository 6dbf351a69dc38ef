// SPDX-License-Identifier: Apache-2.0
// The family window: operators that make each element of an image of a dense neighborhood around it, on both devices.
// An operator gives a rule, in PENSTOCK_PIXEL of a struct that derives from ImageRule, and a Window (geometry.h). It
// gets any rectangle, anchor and border, all types, and HW, HWC, CHW with leading frames, which the operator's
// each_frame() splits where arguments differ. Views are dense. Rules have one of three protocols; all see elements row
// by row:
//
//   fold     combine(a, b) of T, `a` seen before `b`: associative, and combine(a, a) is a; identity<T>(), which any
//            element replaces. T is the element's type, uint8 for bool, and float32 for float16, whose values must be
//            chosen and not computed. A NaN does not take part, except that it is the result where it is seen first:
//            so does a loop whose combine is a comparison. Outside a constant border there is nothing. With
//            combine_pairs(a, b), which does the same to both halves of words, as unsigned numbers of 16 bits, a GPU
//            folds bytes by words.
//   columns  column(v) of the K values down a column, then row(planes) of what K neighbors made of theirs
//   taps     sum + value * weight over the elements in their order
//
// fold_window() is fast: time grows with the logarithm of a rectangle's width, and not with its height. taps_step()
// (taps.h) is the kernel of weighted sums, median_step() (median_steps.h) that of medians. Other columns have no
// kernel here yet that is faster than map_image(); they share Window, seen() and the borders. Means are in box.h; any
// other rule over neighbors is a stencil (stencil.h).
// twin.h is the slow form of a fold, against which fold_test.cpp and kernels/fold_test.cpp hold the fast ones.
#pragma once
#include <cstring>
#include <optional>

#include "base/intrinsics.h"
#include "base/target.h"
#include "families/window/element_images.h"
#include "families/window/fold_rows.h"
#include "families/window/fold_tiles.h"
#include "families/window/twin.h"

namespace penstock::window {

#define PENSTOCK_LOOPS fold_loops
#define PENSTOCK_LOOPS_TEXT "families/window/fold_loops.inc.h"
#include "base/foreach_target.h"

template <class Rule> void fold_on_host(const View& in, const View& out, const Window& w, Target target) {
  dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    const FoldLoops& loops = PENSTOCK_FOR_TARGET(target, fold_loops, kLoops<Rule, Element>);
    fold_rows(loops, in.data, out.data, w);
  });
}

template <class Rule> constexpr bool kHasPairs = requires(uint32_t a) { Rule::combine_pairs(a, a); };

// What kernel a GPU folds bytes with; nothing where they need another one.
inline std::optional<KernelStep> fold_bytes_step(const View& in, const View& out, const Window& w,
                                                 std::string (*rule)()) {
  if (size_of(in.dtype) != 1) return {};
  if (w.width == 3 && w.height == 3 && w.x == 1 && w.y == 1) {
    const ByteImages images = byte_images(in.data, out.data, w.image, w.border);
    const int channels = static_cast<int>(w.image.inner);
    if (images.work > 0)
      return KernelStep{
          {"families/window/kernels/fold_three.h", "window::fold_three", {in.dtype}, {channels, images.aligned}, rule},
          row_bytes(images.rows),
          images.work,
          images.shared_bytes,
          nullptr,
          0,
          nullptr};
  }
  FoldTiles tiles = fold_byte_tiles(w);
  if (tiles.count == 0) return {};
  tiles.row.in = in.data, tiles.row.out = out.data;
  const int aligned = rows_at_multiples(kVectorBytes, in.data, out.data, w.image.width * w.image.inner);
  return KernelStep{
      {"families/window/kernels/fold_bytes.h", "window::fold_bytes", {in.dtype}, {aligned, tiles.words}, rule, 1},
      row_bytes(tiles.row),
      tiles.count,
      tiles.shared_bytes,
      nullptr,
      0,
      nullptr};
}

// What kernel a GPU folds 3 x 3 elements of any type with; nothing where they need another one.
inline std::optional<KernelStep> fold_elements_step(const View& in, const View& out, const Window& w,
                                                    std::string (*rule)()) {
  if (w.width != 3 || w.height != 3 || w.x != 1 || w.y != 1) return {};
  const size_t bytes = size_of(in.dtype);
  const ElementImages images = element_images(in.data, bytes, out.data, bytes, w.image, w.border);
  if (images.work == 0) return {};
  const int channels = static_cast<int>(w.image.inner);
  return KernelStep{{"families/window/kernels/fold_elements.h",
                     "window::fold_elements",
                     {in.dtype},
                     {channels, images.aligned},
                     rule},
                    row_bytes(images.rows),
                    images.work,
                    0,
                    nullptr,
                    0,
                    nullptr};
}

template <class Rule> std::string fold_rule_text() { return std::string(ImageRule::image_text) + Rule::pixel_text; }

// The fold of the window around each element of `in`, which `out` has the shape and the type of.
template <class Rule> void fold_window(const View& in, const View& out, const Window& w, SampleWork& to) {
  if (out.volume() == 0) return;
  const auto host = [=] { fold_on_host<Rule>(in, out, w, best_target()); };
  if constexpr (kHasPairs<Rule>) {
    if (auto step = fold_bytes_step(in, out, w, &fold_rule_text<Rule>)) {
      step->host = host;
      to.kernel(std::move(*step));
      return;
    }
  }
  if (auto step = fold_elements_step(in, out, w, &fold_rule_text<Rule>)) {
    step->host = host;
    to.kernel(std::move(*step));
    return;
  }
  FoldTiles tiles = fold_tiles(w, in.dtype == DType::float16 ? sizeof(float) : size_of(in.dtype));
  if (tiles.count == 0) {
    const typename FoldTwin<Rule>::Coef coef{w.image, w.width, w.height, w.x, w.y, w.border};
    to.map(in, out, {&image_rule_text<FoldTwin<Rule>>, coef_bytes_of(coef), nullptr, nullptr, host});
    return;
  }
  tiles.row.in = in.data, tiles.row.out = out.data;
  to.kernel({{"families/window/kernels/fold.h", "window::fold", {in.dtype}, {}, &fold_rule_text<Rule>, 1},
             row_bytes(tiles.row),
             tiles.count,
             tiles.shared_bytes,
             nullptr,
             0,
             host});
}

}  // namespace penstock::window
