// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/brightness_contrast.h"

namespace penstock {

struct BrightnessContrast : BrightnessContrastBase {
  static Schema<BrightnessContrast> schema() {
    using Op = BrightnessContrast;
    return Schema<Op>("brightness_contrast",
                      std::string("Scales intensities about a center, then multiplies them by a factor and adds a "
                                  "shift.\n\nout = brightness_shift * range + brightness * (center + contrast * (in - "
                                  "center)).") +
                          kTypes)
        .arg("brightness", &Op::brightness, kBrightness)
        .arg("brightness_shift", &Op::brightness_shift, kShift)
        .arg("contrast", &Op::contrast, kContrast)
        .arg("contrast_center", &Op::contrast_center, kCenter)
        .arg("dtype", &Op::dtype, kType)
        .gpu_arguments({"brightness", "brightness_shift", "contrast", "contrast_center"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(BrightnessContrast);

}  // namespace penstock
