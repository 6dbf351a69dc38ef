// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "families/frame/luma.h"
#include "operator/byte_pixels.h"
#include "ops/shared/color_formats.h"

namespace penstock {

// Integers are OpenCV's: each part of a sum is rounded down to a whole number, after a half. All numbers are multiples
// of 2^-14 below 2^10 (float32), or below 2^18 of 16 bits (float64): no sum is rounded.
constexpr double kPart = 1.0 / 16384;

// RGB to YCrCb or YUV.
struct ToLuma : ColorForm<ToLuma> {
  static Schema<ToLuma> schema() { return form("color_space_conversion@to_luma"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef {
        V red, green, blue, of_red, of_blue, center, half, whole, blue_first, red_first;
      };
      template <class V> PENSTOCK_INLINE static V lower(V x, const Coef<V>& c) {
        return select(c.whole > V(0), floor(x), x);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V red = select(c.blue_first > V(0), p.b, p.r);
            const V blue = select(c.blue_first > V(0), p.r, p.b);
            const V luma = lower(red * c.red + p.g * c.green + blue * c.blue + c.half, c);
            const V of_red = lower((red - luma) * c.of_red + c.center, c);
            const V of_blue = lower((blue - luma) * c.of_blue + c.center, c);
            return {luma, select(c.red_first > V(0), of_red, of_blue), select(c.red_first > V(0), of_blue, of_red)};
          });
  template <class V> Coef<V> coef(int) const {
    const bool ycrcb = to() == ColorFormat::ycrcb;
    const auto number = [&](double real, int integer) { return static_cast<V>(whole() ? integer * kPart : real); };
    const double half = whole() ? 0.5 : 0;
    return {number(.299, 4899),
            number(.587, 9617),
            number(.114, 1868),
            ycrcb ? number(.713, 11682) : number(.877, 14369),
            ycrcb ? number(.564, 9241) : number(.492, 8061),
            static_cast<V>((whole() ? (full() + 1) / 2 : .5) + half),
            static_cast<V>(half),
            V(whole()),
            V(from() == ColorFormat::bgr),
            V(ycrcb)};
  }
};
PENSTOCK_OPERATOR(ToLuma);

// YCrCb or YUV to RGB.
struct OfLuma : ColorForm<OfLuma> {
  static Schema<OfLuma> schema() { return form("color_space_conversion@of_luma"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef {
        V red, green_red, green_blue, blue, center, half, whole, blue_first, red_first;
      };
      template <class V> PENSTOCK_INLINE static V lower(V x, const Coef<V>& c) {
        return select(c.whole > V(0), floor(x), x);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V of_red = select(c.red_first > V(0), p.g, p.b) - c.center;
            const V of_blue = select(c.red_first > V(0), p.b, p.g) - c.center;
            const V red = p.r + lower(of_red * c.red + c.half, c);
            const V green = p.r + lower(of_blue * c.green_blue + of_red * c.green_red + c.half, c);
            const V blue = p.r + lower(of_blue * c.blue + c.half, c);
            return {select(c.blue_first > V(0), blue, red), green, select(c.blue_first > V(0), red, blue)};
          });
  template <class V> Coef<V> coef(int) const {
    const bool ycrcb = from() == ColorFormat::ycrcb;
    const auto number = [&](double real, int integer) { return static_cast<V>(whole() ? integer * kPart : real); };
    return {ycrcb ? number(1.403, 22987) : number(1.14, 18678),
            ycrcb ? number(-.714, -11698) : number(-.581, -9519),
            ycrcb ? number(-.344, -5636) : number(-.395, -6472),
            ycrcb ? number(1.773, 29049) : number(2.032, 33292),
            static_cast<V>(whole() ? (full() + 1) / 2 : .5),
            static_cast<V>(whole() ? .5 : 0),
            V(whole()),
            V(to() == ColorFormat::bgr),
            V(ycrcb)};
  }
};
PENSTOCK_OPERATOR(OfLuma);

static bool colors_of_luma(const BoundOp& op, Target target, const uint8_t* in, uint8_t* out, int64_t n) {
  const auto c = static_cast<const CoefAdaptor<OfLuma>&>(op).op.coef<float>(0);
  const auto parts = [](float v) { return static_cast<int32_t>(std::lround(v * 16384)); };
  return frame::luma_pixels(
      target, {parts(c.red), parts(c.green_red), parts(c.green_blue), parts(c.blue), c.red_first > 0, c.blue_first > 0},
      in, out, n);
}
[[maybe_unused]] static const bool luma_has_byte_loop =
    add_byte_pixels("color_space_conversion@of_luma", &colors_of_luma);

}  // namespace penstock
