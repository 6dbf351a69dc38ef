// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/brightness_contrast.h"

namespace penstock {

struct Contrast : BrightnessContrastBase {
  static Schema<Contrast> schema() {
    using Op = Contrast;
    return Schema<Op>("contrast", std::string("Scales intensities about a center.\n\nout = center + contrast * "
                                              "(in - center).") +
                                      kTypes)
        .arg("contrast", &Op::contrast, kContrast)
        .arg("contrast_center", &Op::contrast_center, kCenter)
        .arg("dtype", &Op::dtype, kType)
        .gpu_arguments({"contrast", "contrast_center"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(Contrast);

}  // namespace penstock
