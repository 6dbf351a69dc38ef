// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/color_matrix.h"
#include "ops/shared/value_range.h"

namespace penstock {

struct ShiftHsv : PixelOperator {
  PerSample<float> hue = 0.0f, saturation = 0.0f, value = 0.0f;

  static Schema<ShiftHsv> schema() {
    using Op = ShiftHsv;
    return Schema<Op>(
               "shift_hsv",
               "Adds to the hue, the saturation and the value of colors.\n\nColors go to HSV and back by OpenCV's "
               "formulas. Those of uint8 are rounded as OpenCV does it, the hue to 2 degrees; what is added to the "
               "saturation "
               "and the value is then a multiple of 1 / 255, rounded toward 0, as for Albumentations' "
               "HueSaturationValue. "
               "Saturation and value are limited to their range. Shapes: three channels. Layouts: any with H, W and C; "
               "without a layout "
               "the channels are last. Types: uint8, uint16, float16, float32.\n\n"
               "Example:\n"
               ">>> fn.shift_hsv(np.uint8([[[200, 100, 100]]]), hue=180).tolist()\n"
               "[[[100, 200, 200]]]")
        .arg("hue", &Op::hue, "The rotation of the hue, in degrees.")
        .arg("saturation", &Op::saturation, "Added to the saturation, which goes from 0 to 1.")
        .arg("value", &Op::value, "Added to the largest channel, as a part of the largest value of the type.")
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override { return color_layout(in); }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    full_ = static_cast<float>(full_range(in[0].dtype));
    bytes_ = in[0].dtype == DType::uint8;
  }
  void check_channels(int count) const override {
    if (count != 3) bad_argument("needs images of three channels, got {}", count);
  }
  PENSTOCK_PIXEL(
      // In units of bytes: hues to 180, saturations and values to 255.
      template <class V> struct Coef { V bytes, hue, saturation, value, unit, full; };
      // k / 4096, to a whole number where the type is uint8.
      template <class V> PENSTOCK_INLINE static V share(V k, const Coef<V>& c) {
        return select(c.bytes > V(0), floor(k * V(1.0f / 4096) + V(0.5f)), k * V(1.0f / 4096));
      } template <class V>
      PENSTOCK_INLINE static V whole(V x, const Coef<V>& c) {
        return select(c.bytes > V(0), round_even(x), x);
      } template <class V>
      PENSTOCK_INLINE static V lower(V x, const Coef<V>& c) {
        return select(c.bytes > V(0), floor(x), x);
      } template <class V>
      PENSTOCK_INLINE static V channel(V sixths, V start, V most, V range) {
        const V turned = sixths + start;
        const V k = turned - floor(turned * V(1.0f / 6)) * V(6);
        return most - range * clamp(min(k, V(4) - k), V(0), V(1));
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V most = max(p.r, max(p.g, p.b));
            const V range = most - min(p.r, min(p.g, p.b));
            const V of_red = p.g - p.b;
            const V of_green = p.b - p.r + range * V(2);
            const V of_blue = p.r - p.g + range * V(4);
            const V other = select(p.g < most, of_blue, of_green);
            const V part = select(p.r < most, other, of_red);
            // OpenCV has tables of these quotients; products with them stay below 2^24, so float32 is exact.
            const V per_range = whole(V(122880) / select(range > V(0), range, V(1)), c);
            const V per_most = whole(V(1044480) / select(most > V(0), most, V(1)), c);
            const V hue = lower(share(part * per_range, c) + c.hue, c);
            const V saturation = clamp(lower(share(range * per_most, c) + c.saturation, c), V(0), V(255));
            const V value = clamp(lower(most * c.unit + c.value, c), V(0), V(255)) * c.full;
            const V sixths = hue * V(1.0f / 30);
            const V spread = value * saturation * V(1.0f / 255);
            return {channel(sixths, V(5), value, spread), channel(sixths, V(3), value, spread),
                    channel(sixths, V(1), value, spread)};
          });
  // uint8 gets whole steps, as in Albumentations; the small part is for products such as (30 / 255) * 255.
  float steps(float part) const {
    const float k = part * 255;
    return bytes_ ? std::trunc(k + std::copysign(0.001f, k)) : k;
  }
  Coef<float> coef(int sample) const {
    return {bytes_ ? 1.0f : 0.0f, hue[sample] / 2, steps(saturation[sample]),
            steps(value[sample]), 255 / full_,     full_ / 255};
  }

 private:
  float full_ = 1;
  bool bytes_ = false;
};
PENSTOCK_OPERATOR(ShiftHsv);

}  // namespace penstock
