// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"
#include "ops/shared/value_range.h"

namespace penstock {

struct Solarize : PixelOperator {
  PerSample<float> threshold = 0.0f;

  static Schema<Solarize> schema() {
    return Schema<Solarize>("solarize",
                            std::string("Inverts the values that are at least a threshold.\n\nSuch a value is "
                                        "subtracted from the largest one. ") +
                                kImageValues +
                                "\n\nExample:\n"
                                ">>> fn.solarize(np.uint8([0, 127, 128, 255]), threshold=128).tolist()\n"
                                "[0, 127, 127, 0]")
        .required("threshold", &Solarize::threshold, "The least value that is inverted.")
        .oracle("torchvision");
  }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    full_ = static_cast<float>(full_range(in[0].dtype));
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V threshold, full; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) {
        const V inverted = c.full - in;
        return select(in < c.threshold, in, inverted);
      });
  Coef<float> coef(int sample) const { return {threshold[sample], full_}; }

 private:
  float full_ = 1;
};
PENSTOCK_OPERATOR(Solarize);

}  // namespace penstock
