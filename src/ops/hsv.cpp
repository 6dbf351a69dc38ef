// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

namespace penstock {

struct Hsv : ColorTwistMap<Hsv> {
  Hsv() { dtype = DType::uint8; }

  static Schema<Hsv> schema() {
    using Op = Hsv;
    return Schema<Op>("hsv",
                      std::string("Rotates the hue, and scales the saturation and the value of colors.") + kAbout)
        .arg("hue", &Op::hue, kHue)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("value", &Op::value, "Scales all channels; 1 leaves them unchanged.")
        .arg("dtype", &Op::dtype, "Type of the result; default: uint8, whatever the type of the input.")
        .arg("image_type", &Op::image_type, kImageType)
        .gpu_arguments({"hue", "saturation", "value"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(Hsv);

}  // namespace penstock
