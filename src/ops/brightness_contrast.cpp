// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/intensity.h"
#include "ops/machine/operator.h"

namespace penstock {

// Shared by brightness, contrast and brightness_contrast: one multiplication and one addition.
struct BrightnessContrast {
  PerSample<float> brightness = 1.0f;
  PerSample<float> brightness_shift = 0.0f;
  PerSample<float> contrast = 1.0f;
  PerSample<float> contrast_center = 0.5f;
  DType dtype = DType::none;

  static Schema<BrightnessContrast> schema() {
    using Op = BrightnessContrast;
    return Schema<Op>("brightness_contrast",
                      "Scales intensities about a center and shifts them.\n\n"
                      "out = brightness_shift * range + brightness * (center + contrast * (in - center)), where range is "
                      "the largest value of the output type (1 for floating point).\n\n"
                      "Shapes, layout: any, kept. Types: all; floating point is computed in float32.")
        .arg("brightness", &Op::brightness, "Multiplies the result; 1 leaves it unchanged.")
        .arg("brightness_shift", &Op::brightness_shift, "Added to the result, in units of the output range.")
        .arg("contrast", &Op::contrast, "0 gives a flat image, 1 leaves it unchanged.")
        .arg("contrast_center", &Op::contrast_center,
             "The intensity that contrast does not move, in units of the input; default: the middle of the input type.")
        .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
        .oracle("dali");
  }
  void check(std::span<const ValueType> in) {
    input_type = in[0].dtype;
    output_type = dtype == DType::none ? input_type : dtype;
  }
  template <class V> struct Coef { V mul, add; };
  Coef<float> coef(int i) const {
    const float center = contrast_center.given() ? contrast_center[i] : half_range(input_type);
    const float b = brightness[i], c = contrast[i];
    return {b * c, brightness_shift[i] * full_range(output_type) + b * (center - c * center)};
  }
  template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { return fma(in, c.mul, c.add); }

  DType input_type = DType::none, output_type = DType::none;
};
PENSTOCK_OPERATOR(BrightnessContrast);

}  // namespace penstock
