// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/value_range.h"

namespace penstock {

struct Invert : PixelOperator {
  static Schema<Invert> schema() {
    return Schema<Invert>("invert", std::string("Subtracts each value from the largest one.\n\n") + kImageValues +
                                        "\n\nExample:\n"
                                        ">>> fn.invert(np.uint8([0, 10, 255])).tolist()\n"
                                        "[255, 245, 0]")
        .oracle("torchvision");
  }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    full_ = static_cast<float>(full_range(in[0].dtype));
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V full; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { return c.full - in; });
  Coef<float> coef(int) const { return {full_}; }

 private:
  float full_ = 1;
};
PENSTOCK_OPERATOR(Invert);

}  // namespace penstock
