// SPDX-License-Identifier: Apache-2.0
// Operators that apply one linear map to the three channels of a pixel.
#pragma once
#include <algorithm>
#include <array>

#include "ops/shared/lanes.h"
#include "operator/operator.h"
#include "pixel/transcendental.h"

namespace penstock {

// out[r] = sum over c of m[r][c] * in[c] + offset[r]
struct ColorMatrix {
  std::array<std::array<double, 3>, 3> m{};
  std::array<double, 3> offset{};
};
ColorMatrix operator*(const ColorMatrix& a, const ColorMatrix& b);  // b first

// The constants of ColorTwistMap: the terms of a rotation and a scaling of the chroma plane of YIQ, row by row.
struct TwistMatrices {
  double gray[9], kept[9], turned[9];
};
const TwistMatrices& twist_matrices();

// Without a layout the channels are last, by rank.
Layout color_layout(const ValueType& in);

// The pixel part of an operator that has `ColorMatrix matrix(SampleFrame) const`.
template <class Op> struct ColorMap : PixelOperator {
  using Lanes = LaneList<float, double>;
  Layout input_layout(const ValueType& in) const override { return color_layout(in); }
  Lane lane(std::span<const DType> in, DType out) const override { return intensity_lane(in, out); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V m[9], offset[3]; };
      template <class V> PENSTOCK_INLINE static Rgb<V> pixel(Rgb<V> p, const Coef<V>& c) {
        return {fma(p.b, c.m[2], fma(p.g, c.m[1], fma(p.r, c.m[0], c.offset[0]))),
                fma(p.b, c.m[5], fma(p.g, c.m[4], fma(p.r, c.m[3], c.offset[1]))),
                fma(p.b, c.m[8], fma(p.g, c.m[7], fma(p.r, c.m[6], c.offset[2])))};
      });
  template <class V> static bool moves_channels(const Coef<V>& c, int* from) {
    for (int r = 0; r < 3; ++r) {
      const V* row = c.m + 3 * r;
      from[r] = row[0] == 1 ? 0 : row[1] == 1 ? 1 : 2;
      for (int k = 0; k < 3; ++k)
        if (row[k] != static_cast<V>(k == from[r]) || c.offset[r] != 0) return false;
    }
    return true;
  }
  static void color_matrix(const Coef<float>& c, float* m) {
    std::copy_n(c.m, 9, m);
    std::copy_n(c.offset, 3, m + 9);
  }
  template <class V> Coef<V> coef(SampleFrame at) const {
    const ColorMatrix t = static_cast<const Op*>(this)->matrix(at);
    Coef<V> c;
    for (int i = 0; i < 9; ++i) c.m[i] = static_cast<V>(t.m[i / 3][i % 3]);
    for (int i = 0; i < 3; ++i) c.offset[i] = static_cast<V>(t.offset[i]);
    return c;
  }
};

// Shared by hue, saturation, hsv and color_twist: brightness * contrast * value times a rotation by `hue` degrees and a
// scaling by `saturation` of the chroma plane of YIQ, about the gray that contrast does not change: 128 for integers,
// 0.5 for floating point.
template <class Op> struct ColorTwistMap : ColorMap<Op> {
  PerFrame<float> hue = 0.0f;
  PerFrame<float> saturation = 1.0f;
  PerFrame<float> value = 1.0f;
  PerFrame<float> brightness = 1.0f;
  PerFrame<float> contrast = 1.0f;
  DType dtype = DType::none;
  int64_t image_type = 0;

  static constexpr const char* kAbout =
      "\n\nShapes: three channels. Layouts: any with H, W and C; without a layout the channels are last. Types: all; "
      "computed in float64 if 32-bit or 64-bit integers or float64 take part, otherwise in float32. Source: rotation "
      "and scaling in YIQ.";
  static constexpr const char* kHue = "Rotation of the hue, in degrees.";
  static constexpr const char* kSaturation = "Scales the saturation; 0 gives gray, 1 leaves it unchanged.";
  static constexpr const char* kImageType = "Accepted without effect: channels are taken as red, green, blue.";
  static constexpr const char* kType = "Type of the result; default: the input's.";

  void check(std::span<const ValueType> in) override { input_type = in[0].dtype; }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  void check_channels(int count) const override {
    if (count != 3) bad_argument("needs images of three channels, got {}", count);
  }

  template <class V> using Coef = typename ColorMap<Op>::template Coef<V>;
  PENSTOCK_TEXT(
      fold_text, struct Values { float hue, saturation, value, brightness, contrast; };
      struct Known { double half, gray[9], kept[9], turned[9]; };
      template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& k) {
        const double angle = v.hue * (kPi / 180);
        const double c = v.saturation * cos(angle), s = v.saturation * sin(angle);
        const double half = k.half, scale = static_cast<double>(v.brightness) * v.contrast * v.value;
        Coef<V> to;
        for (int i = 0; i < 9; ++i) to.m[i] = static_cast<V>((k.gray[i] + c * k.kept[i] + s * k.turned[i]) * scale);
        for (int i = 0; i < 3; ++i) to.offset[i] = static_cast<V>((half - half * v.contrast) * v.brightness);
        return to;
      });
  static constexpr auto folded = std::tuple{&ColorTwistMap::hue, &ColorTwistMap::saturation, &ColorTwistMap::value,
                                            &ColorTwistMap::brightness, &ColorTwistMap::contrast};
  void know(Known& k) const {
    k.half = is_float(input_type) ? 0.5 : 128.0;
    const TwistMatrices& m = twist_matrices();
    std::memcpy(k.gray, m.gray, sizeof k.gray);
    std::memcpy(k.kept, m.kept, sizeof k.kept);
    std::memcpy(k.turned, m.turned, sizeof k.turned);
  }
  DType input_type = DType::none;
};

}  // namespace penstock
