// SPDX-License-Identifier: Apache-2.0
// Shared by dilate, erode and morphology.
#pragma once
#include "families/window/fold.h"

namespace penstock {

struct ErodeRule : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return greatest_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) {
        return b < a ? b : a;
      } PENSTOCK_HD static uint32_t combine_pairs(uint32_t a, uint32_t b) { return lesser_pairs(a, b); });
};
struct DilateRule : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return least_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) {
        return a < b ? b : a;
      } PENSTOCK_HD static uint32_t combine_pairs(uint32_t a, uint32_t b) { return greater_pairs(a, b); });
};

struct Morphology : ImageOperator {
  PerFrame<std::vector<int64_t>> mask_size = std::vector<int64_t>{3, 3}, anchor = std::vector<int64_t>{-1, -1};
  int64_t iterations = 1;
  std::string border_mode = "constant";

  void ready() override { border_ = image_border("border_mode", border_mode); }
  // `apart`: the operator has other steps. Then a kernel must have memory for the mask: a map in its
  // place would run after all kernels.
  template <class Rule>
  void fold(const SampleContext& s, const View& in, const View& out, SampleWork& to, bool apart = false) const {
    const bool frames = mask_size.frames() || anchor.frames();
    each_frame(frames, in, out, [&](int64_t f, const View& from, const View& into) {
      const auto size = mask_size[SampleFrame{s.index, f}], at = anchor[SampleFrame{s.index, f}];
      if (size.size() < 1 || size.size() > 2) bad_argument("mask_size must have 1 or 2 values, got {}", size.size());
      if (at.size() < 1 || at.size() > 2) bad_argument("anchor must have 1 or 2 values, got {}", at.size());
      window::Window w{image_extents(from.shape, from.layout), 0, 0, 0, 0, border_};
      axis(size.front(), at.front(), w.width, w.x);
      axis(size.back(), at.back(), w.height, w.y);
      if (apart && window::fold_tiles(w, from.dtype == DType::float16 ? sizeof(float) : size_of(from.dtype)).count == 0)
        bad_argument("a mask of {} x {} elements with {} channels is too large: call fn.erode and fn.dilate", w.width,
                     w.height, w.image.inner);
      window::fold_window<Rule>(from, into, w, to);
    });
  }

 private:
  // Several iterations equal one with a larger mask.
  void axis(int64_t size, int64_t at, int64_t& extent, int64_t& place) const {
    if (size < 1 || size > 65535) bad_argument("mask_size must be from 1 to 65535, got {}", size);
    if (at < -1 || at >= size) bad_argument("anchor {} is outside the mask's {} elements", at, size);
    extent = 1 + iterations * (size - 1);
    place = iterations * (at < 0 ? size / 2 : at);
  }
  int border_ = 0;
};

template <class Op> Schema<Op>&& morphology_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("mask_size", &Op::mask_size, "(width, height) of the rectangle.")
      .arg("anchor", &Op::anchor,
           "(x, y) of the element of the rectangle that lies over the output's element; -1: the middle.")
      .arg("iterations", &Op::iterations, "Number of repetitions.", within(0, 65535))
      .arg("border_mode", &Op::border_mode,
           "The area outside the image. \"constant\": it is ignored; otherwise \"replicate\", \"reflect\", "
           "\"reflect_101\" or \"wrap\".");
}

}  // namespace penstock
