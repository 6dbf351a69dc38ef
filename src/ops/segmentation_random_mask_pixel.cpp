// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/random_values.h"

namespace penstock {

struct RandomMaskPixel : WholeOperator {
  PerSample<int> foreground = 0, value;
  PerSample<float> threshold = 0.0f;

  static Schema<RandomMaskPixel> schema() {
    using Op = RandomMaskPixel;
    return Schema<Op>("segmentation.random_mask_pixel",
                      "Draws a pixel of a mask; all are equally likely.\n\nOutput: the indices of the pixel, 1-D "
                      "int64. If a mask has no foreground pixel, any pixel is drawn. Layouts: any. Types: all.\n\n"
                      "Example:\n"
                      ">>> mask = np.zeros((48, 64), np.uint8)\n"
                      ">>> mask[10, 20] = 1\n"
                      ">>> fn.segmentation.random_mask_pixel(mask, foreground=True).tolist()\n"
                      "[10, 20]")
        .arg("foreground", &Op::foreground, "Draw only foreground pixels if this is not 0.")
        .arg("threshold", &Op::threshold, "Foreground pixels are greater than this.")
        .arg("value", &Op::value, "Foreground pixels equal this, instead of the threshold.")
        .random()
        .oracle("dali");
  }
  void ready() override {
    if (threshold.given() && value.given()) bad_argument("threshold and value are mutually exclusive");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim == 0) bad_type("a mask must have at least one dimension");
    out[0] = {DType::int64, 1, {}};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {in[0].size()};
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    const int64_t n = in[0].volume();
    if (n == 0) bad_argument("a mask of the shape {} has no pixels", in[0].shape.text());
    const uint64_t bits = RandomValues::stream(s).draw64(0);
    const auto below = [&](int64_t m) {
      return std::min(m - 1, static_cast<int64_t>(uniform01_wide(bits) * static_cast<double>(m)));
    };
    int64_t pixel = below(n);
    if (foreground[s.index]) {
      const bool exact = value.given();
      const double limit = exact ? value[s.index] : static_cast<double>(threshold[s.index]);
      dispatch(in[0].dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* mask = in[0].as<T>();
        const auto is_foreground = [&](T v) {
          const auto d = static_cast<double>(v);
          return exact ? d == limit : d > limit;
        };
        const int64_t count = std::count_if(mask, mask + n, is_foreground);
        int64_t left = count ? below(count) : -1;
        for (int64_t i = 0; i < n && left >= 0; ++i)
          if (is_foreground(mask[i]) && left-- == 0) pixel = i;
      });
    }
    for (int d = in[0].shape.size() - 1; d >= 0; pixel /= in[0].shape[d--])
      out[0].as<int64_t>()[d] = pixel % in[0].shape[d];
  }
};
PENSTOCK_OPERATOR(RandomMaskPixel);

}  // namespace penstock
