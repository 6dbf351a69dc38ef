// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/color_matrix.h"

namespace penstock {

struct ColorTwist : ColorTwistMap<ColorTwist> {
  PerFrame<float> brightness = 1.0f;
  PerFrame<float> contrast = 1.0f;
  PerFrame<float> hue = 0.0f;
  PerFrame<float> saturation = 1.0f;

  static Schema<ColorTwist> schema() {
    using Op = ColorTwist;
    return Schema<Op>("color_twist", std::string("Changes hue, saturation, contrast and brightness of colors in one step.") + kAbout)
        .arg("brightness", &Op::brightness, "Scales all channels; 1 leaves them unchanged.")
        .arg("contrast", &Op::contrast, "Scales about the middle gray (128 for integers, 0.5 for floating point); 1 leaves it unchanged.")
        .arg("hue", &Op::hue, kHue)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .oracle("dali");
  }
  ColorMatrix matrix(SampleFrame i) const {
    return color_twist_matrix(hue[i], saturation[i], 1, brightness[i], contrast[i], input_type);
  }
};
PENSTOCK_OPERATOR(ColorTwist);

}  // namespace penstock
