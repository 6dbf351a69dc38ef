// SPDX-License-Identifier: Apache-2.0
// sRGB's curve and the cube root in float32, for pixel functions.
#pragma once
#include <bit>

#include "ops/shared/color_formats.h"
#include "pixel/math.h"

namespace penstock {

// What the loops have three times for each pixel, without tables, calls and branches: then they are vectorized.
struct LightCurves {
  PENSTOCK_TEXT(
      // ((v + 0.055) / 1.055)^2.4 for v from 0.04 to 1, to 1e-6: OpenCV's table of bytes comes out exactly.
      curves_text,
      PENSTOCK_INLINE static float light_of(float v) {
        float y = fma(v, -0.061867673f, 0.31293148f);
        y = fma(v, y, -0.6933763f);
        y = fma(v, y, 0.90746844f);
        y = fma(v, y, -0.8425939f);
        y = fma(v, y, 0.8545708f);
        y = fma(v, y, 0.48683134f);
        y = fma(v, y, 0.035177693f);
        return fma(v, y, 0.0008578808f);
      }
      // By the root's inverse, from a guess that takes the bits for the logarithm; to 3e-7 of itself.
      PENSTOCK_INLINE static float cube_root(float x) {
        const float third = static_cast<float>(std::bit_cast<int32_t>(x)) * (1.0f / 3);
        const float first = std::bit_cast<float>(1419919360 - static_cast<int32_t>(third));
        const float far = fma(-(x * first * first), first, 1.0f);
        const float second = fma(first * far, fma(far, 2.0f / 9, 1.0f / 3), first);
        const float near = fma(-(x * second * second), second, 1.0f);
        const float r = fma(second * near, fma(near, 2.0f / 9, 1.0f / 3), second);
        return x * r * r;
      }
      // 1.055 x^(1 / 2.4) - 0.055 for normal x above 0, to 2e-7.
      PENSTOCK_INLINE static float curve_of(float x) {
        const int32_t bits = std::bit_cast<int32_t>(x);
        const int32_t e = (bits - 0x3F3504F3) >> 23;
        const float m = std::bit_cast<float>(bits - static_cast<int32_t>(static_cast<uint32_t>(e) << 23));
        const float s = (m - 1.0f) / (m + 1.0f);
        const float z = s * s;
        float l = fma(z, 0.3205989f, 0.4121986f);
        l = fma(z, l, 0.577078f);
        l = fma(z, l, 0.9617967f);
        l = fma(z, l, 2.88539f);
        const float t = fma(s, l, static_cast<float>(e)) * (1.0f / 2.4f);
        const float n = round_even(t);
        const float f = t - n;
        float y = fma(f, 0.000154035f, 0.0013333558f);
        y = fma(f, y, 0.009618129f);
        y = fma(f, y, 0.05550411f);
        y = fma(f, y, 0.2402265f);
        y = fma(f, y, 0.6931472f);
        y = fma(f, y, 1.0f);
        const float power = y * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
        return fma(power, 1.055f, -0.055f);
      });
};

// A form between RGB and Lab or Luv.
template <class Op> struct LightForm : ColorForm<Op>, LightCurves {
  std::string base_text() const override { return curves_text; }
  void check(std::span<const ValueType> in) override {
    ColorForm<Op>::check(in);
    if (in[0].dtype == DType::uint16) bad_type("Lab and Luv need uint8 or float32, got uint16");
  }
};

}  // namespace penstock
