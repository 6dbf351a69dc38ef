// SPDX-License-Identifier: Apache-2.0
// Where remap reads: what its maps say.
#pragma once
#include "families/gather/gather.h"

namespace penstock {

struct Maps {
  PENSTOCK_TEXT(
      base_text,
      struct Coef {
        const float* x;
        const float* y;
        int64_t map_step;  // from the coordinates of one image to those of the next
        int32_t width;
        float half_width;  // of normalized maps
        float half_height;
        float shift;
      };
      PENSTOCK_INLINE static int64_t place_of(int32_t image, int32_t y, int32_t x, const Coef& c) {
        return image * c.map_step + int64_t{y} * c.width + x;
      });
};
struct RemapRule : Maps {
  PENSTOCK_PIXEL(template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t image, int32_t y, int32_t x,
                                                                                  const Coef& c) {
    const int64_t i = place_of(image, y, x, c);
    const V shift = c.shift;
    return {static_cast<V>(gather::read_only(c.x + i)), static_cast<V>(gather::read_only(c.y + i)), -shift, -shift};
  });
};
struct NormalizedRemapRule : Maps {
  PENSTOCK_PIXEL(template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t image, int32_t y, int32_t x,
                                                                                  const Coef& c) {
    const int64_t i = place_of(image, y, x, c);
    const V shift = c.shift;
    const auto px = gather::from_unit_range(static_cast<V>(gather::read_only(c.x + i)), static_cast<V>(c.half_width));
    const auto py = gather::from_unit_range(static_cast<V>(gather::read_only(c.y + i)), static_cast<V>(c.half_height));
    return {px.value, py.value, px.rest - shift, py.rest - shift};
  });
};
// Maps of distances; half_width and half_height are 1 if they are not normalized.
struct RelativeRemapRule : Maps {
  PENSTOCK_PIXEL(template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t image, int32_t y, int32_t x,
                                                                                  const Coef& c) {
    const int64_t i = place_of(image, y, x, c);
    const V mx = static_cast<V>(gather::read_only(c.x + i)), my = static_cast<V>(gather::read_only(c.y + i));
    const V wide = static_cast<V>(c.half_width), high = static_cast<V>(c.half_height);
    const V dx = mx * wide, dy = my * high;
    const auto p = gather::displaced(static_cast<V>(x), static_cast<V>(y), dx, dy);
    return {p.x, p.y, p.rest_x + fma(mx, wide, -dx), p.rest_y + fma(my, high, -dy)};
  });
};

}  // namespace penstock
