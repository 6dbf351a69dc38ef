// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/bilateral_arguments.h"

namespace penstock {

struct JointBilateralFilter : BilateralArguments {
  static Schema<JointBilateralFilter> schema() {
    return Schema<JointBilateralFilter>(
               "joint_bilateral_filter",
               "Smooths an image and keeps the edges of another one, the guide.\n\nAs `bilateral_filter`, but the "
               "difference of two pixels is that of the guide: a depth map, a mask or flow gets the edges of its "
               "picture (G. Petschnigg and others, 2004). The guide has the height, the width, the frames and the "
               "type of the image, and one, three or four channels, as the image has. Layouts of both: HW, HWC, CHW, "
               "each "
               "also with a leading F; the output keeps that of the image. Types: integers of 8 and 16 bits, float16, "
               "float32.\n\n"
               "Example:\n"
               ">>> depth, picture = np.zeros((48, 64), np.uint8), np.zeros((48, 64, 3), np.uint8)\n"
               ">>> fn.joint_bilateral_filter(depth, picture, diameter=9, sigma_color=20, sigma_space=5).shape\n"
               "(48, 64)")
        .inputs(2)
        .input_names({"data", "guide"})
        .with(&bilateral_arguments<JointBilateralFilter>)
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    ImageOperator::infer(in, out);
    check_image(in[1]);
    if (in[0].dtype != DType::none && in[1].dtype != DType::none && in[0].dtype != in[1].dtype)
      bad_type("the guide must have the type of the image, {}, got {}: see fn.cast", name_of(in[0].dtype),
               name_of(in[1].dtype));
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    View guide = in[1];
    guide.layout = check_image({guide.dtype, guide.shape.size(), guide.layout});
    const Layout &a = in[0].layout, &b = guide.layout;
    const auto extent = [](const View& v, char axis) {
      const int d = v.layout.find(axis);
      return d < 0 ? 1 : v.shape[d];
    };
    for (const char axis : {'F', 'H', 'W'})
      if (a.has(axis) != b.has(axis) || extent(in[0], axis) != extent(guide, axis))
        bad_argument("the guide's shape {}, layout '{}', does not match the image's {}, '{}'", guide.shape.text(),
                     b.str(), in[0].shape.text(), a.str());
    window::bilateral_window(in[0], &guide, out[0], circle(s.index), border_, to);
  }
};
PENSTOCK_OPERATOR(JointBilateralFilter);

}  // namespace penstock
