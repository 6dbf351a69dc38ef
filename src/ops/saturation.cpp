// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

namespace penstock {

struct Saturation : ColorTwistMap<Saturation> {
  static Schema<Saturation> schema() {
    using Op = Saturation;
    return Schema<Op>("saturation", std::string("Scales the saturation of colors.") + kAbout)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .gpu_arguments({"saturation"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(Saturation);

}  // namespace penstock
