// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/brightness_contrast.h"

namespace penstock {

struct Brightness : BrightnessContrastBase {
  static Schema<Brightness> schema() {
    using Op = Brightness;
    return Schema<Op>("brightness", std::string("Multiplies intensities by a factor and adds a shift.\n\nout = "
                                                "brightness_shift * range + brightness * in.") +
                                        kTypes)
        .arg("brightness", &Op::brightness, kBrightness)
        .arg("brightness_shift", &Op::brightness_shift, kShift)
        .arg("dtype", &Op::dtype, kType)
        .gpu_arguments({"brightness", "brightness_shift"})
        .oracle("dali");
  }
};
PENSTOCK_OPERATOR(Brightness);

}  // namespace penstock
