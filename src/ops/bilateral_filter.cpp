// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/bilateral_arguments.h"

namespace penstock {

struct BilateralFilter : BilateralArguments {
  static Schema<BilateralFilter> schema() {
    return Schema<BilateralFilter>(
               "bilateral_filter",
               "Smooths an image and keeps its edges.\n\nEach pixel becomes the mean of its neighbors in a circle (C. "
               "Tomasi and R. Manduchi, 1998), which count by exp(-distance^2 / (2 sigma_space^2)) * exp(-difference^2 "
               "/ (2 sigma_color^2)), where the difference of two pixels is the sum of those of their channels, as in "
               "OpenCV's bilateralFilter. Sums are in float32. Images have one, three or four channels. Layouts: HW, "
               "HWC, "
               "CHW, each also with a leading F; the output keeps the layout. Types: integers of 8 and 16 bits, "
               "float16, float32.\n\n"
               "Example:\n"
               ">>> image = np.uint8([[10, 12, 10, 200, 202, 200]])\n"
               ">>> fn.bilateral_filter(image, diameter=3, sigma_color=20, sigma_space=2).tolist()\n"
               "[[11, 11, 10, 200, 201, 201]]")
        .with(&bilateral_arguments<BilateralFilter>)
        .keeps_positions()
        .oracle("opencv");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    window::bilateral_window(in[0], nullptr, out[0], circle(s.index), border_, to);
  }
};
PENSTOCK_OPERATOR(BilateralFilter);

}  // namespace penstock
