// SPDX-License-Identifier: Apache-2.0
// What the family computes, as a plain loop: rows [first, end).
#pragma once
#include <algorithm>

#include "families/frame/kernels/frame.h"

namespace penstock::frame {

template <class T, int from, int to> void frame_twin(const FrameRow& r, int64_t first, int64_t end) {
  Pixel<T> pixels[kPixels];
  for (int64_t y = first; y < end; ++y)
    for (int64_t x = 0; x < r.width; x += kPixels) {
      const int n = static_cast<int>(std::min<int64_t>(kPixels, r.width - x));
      if constexpr (from == chroma && to == gray) {
        for (int i = 0; i < n; ++i) sample<T>(r.out, 0, y, x + i) = sample<const T>(r.in, 0, y, x + i);
      } else {
        for (int i = 0; i < n; ++i) pixels[i] = load_pixel<T, from>(r, y, x + i);
        store_pixels<T, to>(r, y, x, n, pixels);
      }
    }
}

// Calls f<from, to>() with the kinds of both sides. Frames of chroma become no other frames.
template <class F> void with_kinds(int from, int to, F&& f) {
  const auto of_target = [&]<int source>() {
    switch (to) {
      case colors: return f.template operator()<source, colors>();
      case gray: return f.template operator()<source, gray>();
      case chroma:
        if constexpr (source == colors || source == gray) return f.template operator()<source, chroma>();
        else return;
      case bits565:
        if constexpr (source == colors || source == gray) return f.template operator()<source, bits565>();
        else return;
      default:
        if constexpr (source == colors || source == gray) return f.template operator()<source, bits555>();
        else return;
    }
  };
  switch (from) {
    case colors: return of_target.template operator()<colors>();
    case gray: return of_target.template operator()<gray>();
    case chroma: return of_target.template operator()<chroma>();
    case bits565: return of_target.template operator()<bits565>();
    default: return of_target.template operator()<bits555>();
  }
}

}  // namespace penstock::frame
