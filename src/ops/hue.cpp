// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/color_matrix.h"

namespace penstock {

struct Hue : ColorTwistMap<Hue> {
  PerFrame<float> hue = 0.0f;

  static Schema<Hue> schema() {
    using Op = Hue;
    return Schema<Op>("hue", std::string("Turns the hue of colors.") + kAbout)
        .arg("hue", &Op::hue, kHue)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .oracle("dali");
  }
  ColorMatrix matrix(SampleFrame i) const {
    return color_twist_matrix(hue[i], 1, 1, 1, 1, input_type);
  }
};
PENSTOCK_OPERATOR(Hue);

}  // namespace penstock
