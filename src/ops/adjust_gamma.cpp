// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/value_range.h"
#include "pixel/transcendental.h"

namespace penstock {

struct AdjustGamma : PixelOperator {
  PerSample<float> gamma = 1.0f, gain = 1.0f;

  static Schema<AdjustGamma> schema() {
    using Op = AdjustGamma;
    return Schema<Op>("adjust_gamma",
                      std::string("Raises values to a power: the gamma correction of images.\n\n"
                                  "out = largest * gain * (in / largest) ** gamma, limited to the range from 0 to the "
                                  "largest value. Results of integers are rounded; torchvision and Albumentations "
                                  "round them down. ") +
                          kImageValues +
                          "\n\nExample:\n"
                          ">>> fn.adjust_gamma(np.uint8([0, 64, 128, 255]), gamma=2.0).tolist()\n"
                          "[0, 16, 64, 255]")
        .required("gamma", &Op::gamma, "The exponent: above 1 makes dark areas darker, below 1 brighter.", at_least(0))
        .arg("gain", &Op::gain, "Multiplies the result.")
        .oracle("torchvision");
  }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    full_ = static_cast<float>(full_range(in[0].dtype));
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V part, gamma, factor, full; };
      template <class V> PENSTOCK_LOOPED static V pixel(V in, Coef<V> c) {
        return clamp(pow(max(in, V(0)) * c.part, c.gamma) * c.factor, V(0), c.full);
      });
  Coef<float> coef(int sample) const { return {1.0f / full_, gamma[sample], gain[sample] * full_, full_}; }

 private:
  float full_ = 1;
};
PENSTOCK_OPERATOR(AdjustGamma);

}  // namespace penstock
