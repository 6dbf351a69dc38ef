// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/color_matrix.h"

namespace penstock {

struct Hsv : ColorTwistMap<Hsv> {
  PerFrame<float> hue = 0.0f;
  PerFrame<float> saturation = 1.0f;
  PerFrame<float> value = 1.0f;
  Hsv() { dtype = DType::uint8; }

  static Schema<Hsv> schema() {
    using Op = Hsv;
    return Schema<Op>("hsv", std::string("Turns the hue, scales the saturation and the value of colors.") + kAbout)
        .arg("hue", &Op::hue, kHue)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("value", &Op::value, "Scales all channels; 1 leaves them unchanged.")
        .arg("dtype", &Op::dtype, "Type of the result; default: uint8, whatever the input's type is.")
        .arg("image_type", &Op::image_type, kImageType)
        .oracle("dali");
  }
  ColorMatrix matrix(SampleFrame i) const {
    return color_twist_matrix(hue[i], saturation[i], value[i], 1, 1, input_type);
  }
};
PENSTOCK_OPERATOR(Hsv);

}  // namespace penstock
