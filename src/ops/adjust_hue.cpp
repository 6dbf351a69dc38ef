// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"
#include "ops/shared/value_range.h"

namespace penstock {

struct AdjustHue : PixelOperator {
  PerSample<float> hue_factor = 0.0f;

  static Schema<AdjustHue> schema() {
    return Schema<AdjustHue>(
               "adjust_hue",
               "Rotates the hue of colors in HSV.\n\nThe largest and the smallest of the three channels stay the same. "
               "The operator `hue` works in YIQ instead. Shapes: three channels. Layouts: any with H, W and C; without "
               "a layout the channels are last. Types: uint8, uint16, float16, float32. Source: A. R. Smith, \"Color "
               "gamut transform pairs\", 1978.\n\n"
               "Example:\n"
               ">>> fn.adjust_hue(np.uint8([[[200, 100, 100]]]), hue_factor=0.5).tolist()\n"
               "[[[100, 200, 200]]]")
        .required("hue_factor", &AdjustHue::hue_factor, "The rotation, as a part of a full one, -0.5 to 0.5.",
                  within(-0.5, 0.5))
        .oracle("torchvision");
  }
  Layout input_layout(const ValueType& in) const override { return color_layout(in); }
  void check(std::span<const ValueType> in) override { check_image_values(in[0]); }
  void check_channels(int count) const override {
    if (count != 3) bad_argument("needs images of three channels, got {}", count);
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V sixths; };
      // A channel whose part of the circle of six begins at `start`.
      template <class V> PENSTOCK_INLINE static V channel(V hue, V start, V most, V range) {
        const V turned = hue + start;
        const V k = turned - floor(turned * V(1.0f / 6)) * V(6);
        return most - range * clamp(min(k, V(4) - k), V(0), V(1));
      } template <class V>
      PENSTOCK_INLINE static Rgb<V>
          pixel(Rgb<V> p, const Coef<V>& c) {
            const V most = max(p.r, max(p.g, p.b));
            const V range = most - min(p.r, min(p.g, p.b));
            const V divisor = select(range > V(0), range, V(1));
            const V of_red = p.g - p.b;
            const V of_green = p.b - p.r;
            const V of_blue = p.r - p.g;
            const V other = select(p.g < most, of_blue, of_green);
            const V begin = select(p.g < most, V(4), V(2));
            const V part = select(p.r < most, other, of_red) / divisor;
            const V hue = part + select(p.r < most, begin, V(0)) + c.sixths;
            return {channel(hue, V(5), most, range), channel(hue, V(3), most, range), channel(hue, V(1), most, range)};
          });
  Coef<float> coef(int sample) const { return {hue_factor[sample] * 6}; }
};
PENSTOCK_OPERATOR(AdjustHue);

}  // namespace penstock
