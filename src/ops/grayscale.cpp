// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/gray_blend.h"

namespace penstock {

struct Grayscale : GrayBlend {
  int64_t num_output_channels = 1;

  static Schema<Grayscale> schema() {
    return Schema<Grayscale>("grayscale", std::string("Makes the gray picture of one in color.") + kGray +
                                              "\n\nExample:\n"
                                              ">>> fn.grayscale(np.uint8([[[200, 100, 50]]])).tolist()\n"
                                              "[[[124]]]")
        .arg("num_output_channels", &Grayscale::num_output_channels, "1, or 3 for a picture of three equal channels.",
             within(1, 3))
        .oracle("torchvision");
  }
  void ready() override {
    if (num_output_channels == 2) bad_argument("num_output_channels must be 1 or 3, got 2");
  }
  int channels(int) const override { return static_cast<int>(num_output_channels); }
  Coef<float> coef(int) const { return {0.0f, whole_}; }
};
PENSTOCK_OPERATOR(Grayscale);

}  // namespace penstock
