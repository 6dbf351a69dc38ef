// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_matrix.h"

namespace penstock {

struct ColorMatrixOp : ColorMap<ColorMatrixOp> {
  PerSample<std::vector<float>> coefficients;
  DType dtype = DType::none;

  static Schema<ColorMatrixOp> schema() {
    using Op = ColorMatrixOp;
    return Schema<Op>(
               "color_matrix",
               "Makes each color a weighted sum of the three channels of its pixel.\n\nWith the coefficients m, "
               "out[r] = m[r][0] * red + m[r][1] * green + m[r][2] * blue, and + m[r][3] where rows have four "
               "numbers. Shapes: three channels. Layouts: any with H, W and C; without a layout the channels are last. "
               "Types: all; computed in float64 if 32-bit or 64-bit integers or float64 take part, otherwise in "
               "float32.\n\n"
               "Example:\n"
               ">>> swap = [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]\n"
               ">>> fn.color_matrix(np.uint8([[[10, 20, 30]]]), coefficients=swap).tolist()\n"
               "[[[30, 20, 10]]]")
        .required("coefficients", &Op::coefficients,
                  "9 numbers, row by row, or 12 with an offset at the end of each row, in units of the input.")
        .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
        .oracle("opencv");
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  void check_channels(int count) const override {
    if (count != 3) bad_argument("needs images of three channels, got {}", count);
  }
  ColorMatrix matrix(SampleFrame at) const {
    const std::vector<float> numbers = coefficients[at.sample];
    if (numbers.size() != 9 && numbers.size() != 12)
      bad_argument("coefficients must be 9 numbers, or 12 with offsets, got {}", numbers.size());
    const size_t columns = numbers.size() / 3;
    ColorMatrix made;
    for (size_t r = 0; r < 3; ++r) {
      for (size_t c = 0; c < 3; ++c) made.m[r][c] = numbers[r * columns + c];
      if (columns == 4) made.offset[r] = numbers[r * columns + 3];
    }
    return made;
  }
};
PENSTOCK_OPERATOR(ColorMatrixOp);

}  // namespace penstock
