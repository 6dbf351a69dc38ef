// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "families/frame/hue.h"
#include "operator/byte_pixels.h"
#include "ops/shared/color_formats.h"
#include "ops/shared/color_matrix.h"

namespace penstock {

// What hue is of uint8: the hue of a whole turn. Of float32 it is in degrees.
static double turn_of(ColorFormat f, bool bytes, bool back) {
  if (!bytes) return 360;
  const bool full = f == ColorFormat::hsv_full || f == ColorFormat::hls_full;
  return !full ? 180 : f == ColorFormat::hsv_full && !back ? 256 : 255;
}
template <class Op> struct HueForm : ColorForm<Op> {
  void check(std::span<const ValueType> in) override {
    ColorForm<Op>::check(in);
    if (in[0].dtype == DType::uint16) bad_type("HSV and HLS need uint8 or float32, got uint16");
  }
};

// RGB to HSV. Bytes as OpenCV: quotients in parts of 4096, as in its tables; products with them stay below 2^24.
struct ToHsv : HueForm<ToHsv> {
  static Schema<ToHsv> schema() { return form("color_space_conversion@to_hsv"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V bytes, turn, hue, saturation, unit, half, sixth, blue_first; };
      // 1 / x for normal x above 0, to 2e-7 of itself: a division takes longer than all else.
      PENSTOCK_INLINE static float inverse(float x) {
        const float first = std::bit_cast<float>(0x7EF311C7 - std::bit_cast<int32_t>(x));
        const float far = fma(-x, first, 1.0f);
        const float second = fma(first, fma(far, far, far), first);
        const float near = fma(-x, second, 1.0f);
        return fma(second, fma(near, near, near), second);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V red = select(c.blue_first > V(0), p.b, p.r);
            const V blue = select(c.blue_first > V(0), p.r, p.b);
            const V most = max(red, max(p.g, blue));
            const V range = most - min(red, min(p.g, blue));
            const V other = select(p.g < most, red - p.g, blue - red);
            const V of_other = select(p.g < most, V(4), V(2));
            const V part = select(red < most, other, p.g - blue);
            const V sixths = select(red < most, of_other, V(0));
            const V of_range = c.hue * V(inverse(static_cast<float>(range + V(0x1p-23f))));
            const V of_most = c.saturation * V(inverse(static_cast<float>(abs(most) + V(0x1p-23f))));
            const V per_range = select(c.bytes > V(0), round_even(of_range), of_range);
            const V per_most = select(c.bytes > V(0), round_even(of_most), of_most);
            const V hue = (part + sixths * c.bytes * range) * per_range * c.unit + c.half + sixths * c.sixth;
            const V saturation = range * per_most * c.unit + c.half;
            const V whole_hue = select(c.bytes > V(0), floor(hue), hue);
            const V whole_saturation = select(c.bytes > V(0), floor(saturation), saturation);
            return {select(whole_hue < V(0), whole_hue + c.turn, whole_hue), whole_saturation, most};
          });
  template <class V> Coef<V> coef(int) const {
    const bool bytes = type_ == DType::uint8;
    const double turn = turn_of(to(), bytes, false);
    const double parts = bytes ? 4096 : 1;
    return {V(bytes),     V(turn),           V(turn / 6 * parts),     V((bytes ? 255 : 1) * parts),
            V(1 / parts), V(bytes ? .5 : 0), V(bytes ? 0 : turn / 6), V(from() == ColorFormat::bgr)};
  }
};
PENSTOCK_OPERATOR(ToHsv);
static bool hue_of_bytes(const BoundOp& op, Target target, const uint8_t* in, uint8_t* out, int64_t n) {
  const auto c = static_cast<const CoefAdaptor<ToHsv>&>(op).op.coef<float>(0);
  return frame::hue_pixels(target, {c.hue, c.saturation, c.turn, c.blue_first}, in, out, n);
}
[[maybe_unused]] static const bool has_byte_loop = add_byte_pixels("color_space_conversion@to_hsv", &hue_of_bytes);

// RGB to HLS.
struct ToHls : HueForm<ToHls> {
  static Schema<ToHls> schema() { return form("color_space_conversion@to_hls"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V unit, turn, full, blue_first; };
      template <class V> PENSTOCK_INLINE static Rgb<V> pixel(Rgb<V> p, const Coef<V>& c) {
        const V red = select(c.blue_first > V(0), p.b, p.r) * c.unit;
        const V green = p.g * c.unit;
        const V blue = select(c.blue_first > V(0), p.r, p.b) * c.unit;
        const V most = max(red, max(green, blue));
        const V least = min(red, min(green, blue));
        const V range = most - least;
        const V light = (most + least) * V(0.5f);
        const V some = range > V(0x1p-23f) ? range : V(1);
        const V of_light = select(light < V(0.5f), most + least, V(2) - most - least);
        const V saturation = range / (of_light > V(0) ? of_light : V(1));
        const V scale = V(60) / some;
        const V other = green < most ? (red - green) * scale + V(240) : (blue - red) * scale + V(120);
        const V hue = red < most ? other : (green - blue) * scale;
        const V turned = select(hue < V(0), hue + V(360), hue);
        const bool gray = !(range > V(0x1p-23f));
        return {select(gray, V(0), turned * c.turn), light * c.full, select(gray, V(0), saturation) * c.full};
      });
  template <class V> Coef<V> coef(int) const {
    const bool bytes = type_ == DType::uint8;
    return {bytes ? V(1.0f / 255) : V(1), V(turn_of(to(), bytes, false) / 360), V(full()),
            V(from() == ColorFormat::bgr)};
  }
};
PENSTOCK_OPERATOR(ToHls);

// HSV and HLS to RGB. OpenCV cuts the fractions of bytes from HSV with a hue of 180, and rounds those of the others.
struct OfHue : HueForm<OfHue> {
  static Schema<OfHue> schema() { return form("color_space_conversion@of_hue"); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V sixths, unit, full, hls, cuts, blue_first; };
      template <class V> PENSTOCK_INLINE static V channel(V part, V value, V saturation, V low, V high,
                                                          const Coef<V>& c) {
        const V cut = clamp(part, V(0), V(1));
        const V of_hsv = value * fma(-saturation, V(1) - cut, V(1));
        const V of_hls = select(cut >= V(1), high, low + (high - low) * cut);
        const V made = select(c.hls > V(0), of_hls, of_hsv) * c.full;
        return select(c.cuts > V(0), floor(made), made);
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V turned = p.r * c.sixths;
            const V hue = turned - floor(turned * V(1.0f / 6)) * V(6);
            const V second = p.g * c.unit;
            const V third = p.b * c.unit;
            // Of HLS: the largest and the smallest channel.
            const V above = second + third - second * third;
            const V high = select(second > V(0.5f), above, second * (V(1) + third));
            const V low = V(2) * second - high;
            const V red = channel(max(V(2) - hue, hue - V(4)), third, second, low, high, c);
            const V green = channel(min(hue, V(4) - hue), third, second, low, high, c);
            const V blue = channel(min(hue - V(2), V(6) - hue), third, second, low, high, c);
            return {select(c.blue_first > V(0), blue, red), green, select(c.blue_first > V(0), red, blue)};
          });
  template <class V> Coef<V> coef(int) const {
    const bool bytes = type_ == DType::uint8;
    const bool hls = from() == ColorFormat::hls || from() == ColorFormat::hls_full;
    return {static_cast<V>(6.0f / static_cast<float>(turn_of(from(), bytes, true))),
            bytes ? V(1.0f / 255) : V(1),
            V(full()),
            V(hls),
            V(bytes && from() == ColorFormat::hsv),
            V(to() == ColorFormat::bgr)};
  }
};
PENSTOCK_OPERATOR(OfHue);

static bool colors_of_bytes(const BoundOp& op, Target target, const uint8_t* in, uint8_t* out, int64_t n) {
  const auto c = static_cast<const CoefAdaptor<OfHue>&>(op).op.coef<float>(0);
  return c.hls <= 0 && frame::turn_pixels(target, {c.sixths, c.unit, c.full, c.cuts, c.blue_first}, in, out, n);
}
[[maybe_unused]] static const bool has_loop_back = add_byte_pixels("color_space_conversion@of_hue", &colors_of_bytes);

}  // namespace penstock
