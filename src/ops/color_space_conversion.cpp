// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"
#include "ops/shared/intensity.h"

namespace penstock {

struct ColorSpaceConversion : ColorMap<ColorSpaceConversion> {
  int64_t image_type = 0, output_type = 0;
  enum Space : int64_t { rgb, bgr, gray, ycbcr };

  static Schema<ColorSpaceConversion> schema() {
    using Op = ColorSpaceConversion;
    return Schema<Op>(
               "color_space_conversion",
               "Converts images between RGB, BGR, gray and YCbCr.\n\n"
               "YCbCr is that of ITU-R BT.601 in studio range: Y in 16 to 235 of 255. Shapes: gray has one channel, "
               "the other color spaces have three. Layouts: any with H, W and C; without a layout the channels are "
               "last. Types: all; values are relative to the largest value of the type (1 for floating point).")
        .required("image_type", &Op::image_type, "Color space of the input: RGB 0, BGR 1, GRAY 2, YCbCr 3.",
                  within(0, 3))
        .required("output_type", &Op::output_type, "Color space of the result.", within(0, 3))
        .oracle("dali");
  }
  void check(std::span<const ValueType> in) override { input_type = in[0].dtype; }
  int channels(int in) const override {
    const int expected = image_type == gray ? 1 : 3;
    if (in != expected) bad_argument("image_type needs images of {} channels, got {}", expected, in);
    return output_type == gray ? 1 : 3;
  }
  ColorMatrix matrix(int) const {
    static const ColorMatrix identity{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {}};
    static const ColorMatrix swap{{{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}}, {}};
    static const ColorMatrix luma{{{{.299, .587, .114}, {.299, .587, .114}, {.299, .587, .114}}}, {}};
    if (image_type == output_type) return identity;
    const double unit = full_range(input_type) / 255.0, k = 255.0 / 219.0;
    const ColorMatrix from_ycbcr{{{{k, 0, 1.5960267848}, {k, -.39176228842, -.81296764538}, {k, 2.0172321417, 0}}},
                                 {(-16 * k - 128 * 1.5960267848) * unit,
                                  (-16 * k + 128 * (.39176228842 + .81296764538)) * unit,
                                  (-16 * k - 128 * 2.0172321417) * unit}};
    const ColorMatrix to_ycbcr{{{{.25678823529, .50412941176, .09790588235},
                                 {-.14822289945, -.29099278682, .43921568627},
                                 {.43921568627, -.36778831435, -.07142737192}}},
                               {16 * unit, 128 * unit, 128 * unit}};
    if (image_type == ycbcr && output_type == gray)
      return {{{{k, 0, 0}, {k, 0, 0}, {k, 0, 0}}}, {-16 * k * unit, -16 * k * unit, -16 * k * unit}};
    if (image_type == gray)
      return output_type == ycbcr
                 ? ColorMatrix{{{{1 / k, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, {16 * unit, 128 * unit, 128 * unit}}
                 : identity;
    const ColorMatrix to_rgb = image_type == bgr ? swap : image_type == ycbcr ? from_ycbcr : identity;
    const ColorMatrix from_rgb = output_type == bgr     ? swap
                                 : output_type == gray  ? luma
                                 : output_type == ycbcr ? to_ycbcr
                                                        : identity;
    return from_rgb * to_rgb;
  }
  DType input_type = DType::none;
};
PENSTOCK_OPERATOR(ColorSpaceConversion);

}  // namespace penstock
