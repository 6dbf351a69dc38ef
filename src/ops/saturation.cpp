// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/color_matrix.h"

namespace penstock {

struct Saturation : ColorTwistMap<Saturation> {
  PerFrame<float> saturation = 1.0f;

  static Schema<Saturation> schema() {
    using Op = Saturation;
    return Schema<Op>("saturation", std::string("Scales the saturation of colors.") + kAbout)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .oracle("dali");
  }
  ColorMatrix matrix(SampleFrame i) const {
    return color_twist_matrix(0, saturation[i], 1, 1, 1, input_type);
  }
};
PENSTOCK_OPERATOR(Saturation);

}  // namespace penstock
