// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/value_range.h"

namespace penstock {

struct Posterize : PixelOperator {
  PerSample<int> bits = 4;

  static Schema<Posterize> schema() {
    return Schema<Posterize>("posterize",
                             std::string("Keeps the upper bits of each value and clears the others.\n\nFloating point "
                                         "values become multiples of 2^-bits from 0 to 1 - 2^-bits. ") +
                                 kImageValues +
                                 "\n\nExample:\n"
                                 ">>> fn.posterize(np.uint8([0, 127, 128, 255]), bits=1).tolist()\n"
                                 "[0, 0, 128, 128]")
        .required("bits", &Posterize::bits, "Number of bits that are kept.", within(0, 8))
        .oracle("torchvision");
  }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    range_ = static_cast<float>(full_range(in[0].dtype)) + (is_float(in[0].dtype) ? 0.0f : 1.0f);
  }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V levels, last, step; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) {
        return clamp(floor(in * c.levels), V(0), c.last) * c.step;
      });
  Coef<float> coef(int sample) const {
    const auto levels = static_cast<float>(1 << bits[sample]);
    return {levels / range_, levels - 1, range_ / levels};
  }

 private:
  float range_ = 1;
};
PENSTOCK_OPERATOR(Posterize);

}  // namespace penstock
