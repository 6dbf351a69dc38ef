// SPDX-License-Identifier: Apache-2.0
// The slow twin of mosaics: what they compute, for one element. Only tests run it.
#pragma once
#include "families/window/kernels/mosaic.h"
#include "operator/image_work.h"

namespace penstock::window {

template <class T> T mosaic_element(const T* in, const ImageRule::Place& p, const Mosaic& c) {
  const auto sum_of = [](const T* v, int64_t a, int64_t b) {
    return static_cast<int64_t>(v[a]) + static_cast<int64_t>(v[b]);
  };
  const int64_t w = c.width;
  if (w < 3 || c.height < 3) return 0;
  const int64_t y = clamp<int64_t>(p.y, 1, c.height - 2);  // the edge takes the values of the inner pixels
  const int64_t x = clamp<int64_t>(p.x, 1, w - 2);
  const T* s = in + (p.outer * c.height + y) * w + x;
  const bool blue_row = (y & 1) == c.blue_y, blue_column = (x & 1) == c.blue_x;
  const bool green = blue_row != blue_column;
  const int64_t center = static_cast<int64_t>(s[0]);
  const int64_t beside = sum_of(s, -1, 1), above = sum_of(s, -w, w);
  const int64_t diagonal = sum_of(s, -w - 1, -w + 1) + sum_of(s, w - 1, w + 1);
  if (c.algorithm == Mosaic::gray) {
    const int64_t own = blue_row ? kBlueInGray : kRedInGray, other = blue_row ? kRedInGray : kBlueInGray;
    const int64_t sum = green ? beside * own * 2 + above * other * 2 + center * kGreenInGray * 4
                              : diagonal * other + (beside + above) * kGreenInGray + center * own * 4;
    return static_cast<T>((sum + 32768) >> 16);
  }
  if (p.inner == 1) {
    if (green) return s[0];
    if (c.algorithm == Mosaic::bilinear) return static_cast<T>((beside + above + 2) >> 2);
    const int64_t across = static_cast<int64_t>(s[-1]) - static_cast<int64_t>(s[1]);
    const int64_t down = static_cast<int64_t>(s[-w]) - static_cast<int64_t>(s[w]);
    const bool level = (across < 0 ? -across : across) > (down < 0 ? -down : down);
    return static_cast<T>(((level ? above : beside) + 1) >> 1);
  }
  const bool wants_blue = p.inner == 2;
  if (green) return static_cast<T>(((wants_blue == blue_row ? beside : above) + 1) >> 1);
  return wants_blue == blue_row ? s[0] : static_cast<T>((diagonal + 2) >> 2);
}

template <class T> void mosaic_twin(const Mosaic& c, const T* in, T* out) {
  const int64_t channels = c.algorithm == Mosaic::gray ? 1 : 3;
  ImageRule::Place p{};
  for (p.outer = 0; p.outer < c.images; ++p.outer)
    for (p.y = 0; p.y < c.height; ++p.y)
      for (p.x = 0; p.x < c.width; ++p.x)
        for (p.inner = 0; p.inner < channels; ++p.inner) *out++ = mosaic_element(in, p, c);
}

}  // namespace penstock::window
