// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/shared/color_formats.h"

namespace penstock {

// RGB of sRGB's primaries to XYZ and back, without sRGB's curve, as OpenCV has it: matrices in parts of 4096, and
// integers rounded to the nearest.
struct ColorXyz : ColorForm<ColorXyz> {
  static Schema<ColorXyz> schema() { return form("color_space_conversion@xyz"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V m[9], half, whole; };
      template <class V> PENSTOCK_INLINE static V row(Rgb<V> p, V a, V b, V d, const Coef<V>& c) {
        const V sum = p.r * a + p.g * b + p.b * d + c.half;
        return select(c.whole > V(0), floor(sum), sum);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            return {row(p, c.m[0], c.m[1], c.m[2], c), row(p, c.m[3], c.m[4], c.m[5], c),
                    row(p, c.m[6], c.m[7], c.m[8], c)};
          });
  template <class V> Coef<V> coef(int) const {
    static constexpr double kTo[9] = {.412453, .357580, .180423, .212671, .715160, .072169, .019334, .119193, .950227};
    static constexpr double kOf[9] = {3.240479, -1.53715, -.498535, -.969256, 1.875991,
                                      .041556,  .055648,  -.204043, 1.057311};
    const bool back = from() == ColorFormat::xyz;
    Coef<V> c;
    for (int i = 0; i < 9; ++i) {
      const double m = back ? kOf[i] : kTo[i];
      c.m[i] = static_cast<V>(whole() ? std::round(m * 4096) / 4096 : m);
    }
    if (from() == ColorFormat::bgr)
      for (int r = 0; r < 9; r += 3) std::swap(c.m[r], c.m[r + 2]);
    if (to() == ColorFormat::bgr) std::swap_ranges(c.m, c.m + 3, c.m + 6);
    c.half = V(whole() ? 0.5 : 0), c.whole = V(whole());
    return c;
  }
};
PENSTOCK_OPERATOR(ColorXyz);

}  // namespace penstock
