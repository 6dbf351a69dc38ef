// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

namespace penstock {

struct ColorTwist : ColorTwistMap<ColorTwist> {
  static Schema<ColorTwist> schema() {
    using Op = ColorTwist;
    return Schema<Op>("color_twist",
                      std::string("Changes the hue, saturation, contrast and brightness of colors in one step.") +
                          kAbout)
        .arg("brightness", &Op::brightness, "Scales all channels; 1 leaves them unchanged.")
        .arg("contrast", &Op::contrast,
             "Scales about the middle gray (128 for integers, 0.5 for floating point); 1 leaves the image unchanged.")
        .arg("hue", &Op::hue, kHue)
        .arg("saturation", &Op::saturation, kSaturation)
        .arg("dtype", &Op::dtype, kType)
        .arg("image_type", &Op::image_type, kImageType)
        .gpu_arguments({"brightness", "contrast", "hue", "saturation"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(ColorTwist);

}  // namespace penstock
