// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

namespace penstock {

struct Hue : ColorTwistMap<Hue> {
  static Schema<Hue> schema() {
    using Op = Hue;
    return Schema<Op>("hue", std::string("Rotates the hue of colors.") + kAbout)
        .arg("hue", &Op::hue, kHue)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .gpu_arguments({"hue"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(Hue);

}  // namespace penstock
