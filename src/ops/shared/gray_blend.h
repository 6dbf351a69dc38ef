// SPDX-License-Identifier: Apache-2.0
// Shared by grayscale and adjust_saturation: a mix of a picture of three channels with its gray one.
#pragma once
#include "operator/operator.h"
#include "ops/shared/color_matrix.h"
#include "ops/shared/value_range.h"

namespace penstock {

// gray + factor * (in - gray)
struct GrayBlend : PixelOperator {
  static constexpr const char* kGray =
      "\n\nGray is 0.2989 red + 0.587 green + 0.114 blue, rounded down for integers, as torchvision's. Shapes: three "
      "channels. Layouts: any with H, W and C; without a layout the channels are last. Types: uint8, uint16, float16, "
      "float32.";
  Layout input_layout(const ValueType& in) const override { return color_layout(in); }
  void check(std::span<const ValueType> in) override {
    check_image_values(in[0]);
    whole_ = in[0].dtype != DType::none && !is_float(in[0].dtype) ? 1.0f : 0.0f;
  }
  void check_channels(int count) const override {
    if (count != 3) bad_argument("needs images of three channels, got {}", count);
  }
  PENSTOCK_PIXEL(
      // whole: 1 where gray is an integer, else 0.
      template <class V> struct Coef { V factor, whole; };
      template <class V> PENSTOCK_INLINE static Rgb<V> pixel(Rgb<V> p, const Coef<V>& c) {
        const V sum = fma(p.b, V(0.114f), fma(p.g, V(0.587f), p.r * V(0.2989f)));
        const V gray = sum - c.whole * (sum - floor(sum));
        return {fma(p.r - gray, c.factor, gray), fma(p.g - gray, c.factor, gray), fma(p.b - gray, c.factor, gray)};
      });

 protected:
  ~GrayBlend() = default;
  float whole_ = 0;
};

}  // namespace penstock
