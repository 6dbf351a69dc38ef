// SPDX-License-Identifier: Apache-2.0
// An operator that changes values: it is fused with its neighbors on both devices.
#include <penstock/operator.h>

namespace example {
using namespace penstock;

struct Duotone : PixelOperator {
  std::vector<double> shadows{0, 0, 0}, highlights{255, 255, 255};
  PerSample<float> amount = 1.0f;

  static Schema<Duotone> schema() {
    return Schema<Duotone>("duotone",
                           "Replaces the colors of an image by a scale between two colors.\n\n"
                           "The place on the scale is the brightness of the pixel by ITU-R BT.601. Images have three "
                           "channels in RGB order. Layouts: any with C, kept. Types: uint8.\n\n"
                           "Example:\n"
                           ">>> image = np.uint8([[[0, 0, 0], [255, 255, 255]]])\n"
                           ">>> fn.duotone(image, shadows=[10, 20, 30], highlights=[200, 210, 220]).tolist()\n"
                           "[[[10, 20, 30], [200, 210, 220]]]")
        .arg("shadows", &Duotone::shadows, "The color in place of black: three numbers from 0 to 255.")
        .arg("highlights", &Duotone::highlights, "The color in place of white: three numbers from 0 to 255.")
        .arg("amount", &Duotone::amount, "How much of the new color the result has, the rest is the old one.",
             within(0, 1));
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::none && in[0].dtype != DType::uint8)
      bad_type("expected uint8, got {}", name_of(in[0].dtype));
    for (const auto* color : {&shadows, &highlights})
      if (color->size() != 3) bad_argument("a color has 3 numbers, got {}", color->size());
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V amount, low_r, low_g, low_b, range_r, range_g, range_b; };
      template <class V> PENSTOCK_HD static Rgb<V> pixel(Rgb<V> p, const Coef<V>& c) {
        const V bright = (p.r * V(0.299f) + p.g * V(0.587f) + p.b * V(0.114f)) * V(1.0f / 255);
        const V r = c.low_r + c.range_r * bright;
        const V g = c.low_g + c.range_g * bright;
        const V b = c.low_b + c.range_b * bright;
        return {p.r + (r - p.r) * c.amount, p.g + (g - p.g) * c.amount, p.b + (b - p.b) * c.amount};
      });
  Coef<float> coef(int sample) const {
    const auto low = [&](int i) { return static_cast<float>(shadows[i]); };
    const auto range = [&](int i) { return static_cast<float>(highlights[i] - shadows[i]); };
    return {amount[sample], low(0), low(1), low(2), range(0), range(1), range(2)};
  }
};
PENSTOCK_OPERATOR(Duotone);

}  // namespace example
