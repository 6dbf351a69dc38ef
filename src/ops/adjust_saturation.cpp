// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/gray_blend.h"

namespace penstock {

struct AdjustSaturation : GrayBlend {
  PerSample<float> saturation_factor = 1.0f;

  static Schema<AdjustSaturation> schema() {
    return Schema<AdjustSaturation>(
               "adjust_saturation",
               std::string("Mixes a picture with its gray one.\n\nout = gray + saturation_factor * (in - gray). The "
                           "operator `saturation` works in YIQ instead.") +
                   kGray +
                   "\n\nExample:\n"
                   ">>> image = np.zeros((48, 64, 3), np.uint8)\n"
                   ">>> result = fn.adjust_saturation(image, saturation_factor=0.5)")
        .required("saturation_factor", &AdjustSaturation::saturation_factor,
                  "0 gives gray, 1 leaves the picture unchanged, more strengthens the colors.", at_least(0))
        .oracle("torchvision");
  }
  Coef<float> coef(int sample) const { return {saturation_factor[sample], whole_}; }
};
PENSTOCK_OPERATOR(AdjustSaturation);

}  // namespace penstock
