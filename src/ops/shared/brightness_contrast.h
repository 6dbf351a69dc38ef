// SPDX-License-Identifier: Apache-2.0
// Shared by brightness, contrast and brightness_contrast: one multiplication and one addition.
#pragma once
#include "operator/image_layout.h"
#include "ops/shared/intensity.h"
#include "ops/shared/lanes.h"
#include "operator/operator.h"

namespace penstock {

// out = shift * range + brightness * (center + contrast * (in - center))
struct BrightnessContrastBase : PixelOperator {
  PerFrame<float> brightness = 1.0f;
  PerFrame<float> brightness_shift = 0.0f;
  PerFrame<float> contrast = 1.0f;
  PerFrame<float> contrast_center = 0.5f;
  DType dtype = DType::none;

  static constexpr const char* kBrightness = "Multiplies the intensities; 1 leaves them unchanged.";
  static constexpr const char* kShift =
      "Added to the result, as a fraction of the output range (the largest value of the output type, 1 for floating "
      "point).";
  static constexpr const char* kContrast =
      "Multiplies the distance from the center; 0 gives a flat image, 1 leaves it unchanged.";
  static constexpr const char* kCenter =
      "The intensity that contrast does not change, in units of the input; default: the middle of the input type "
      "(uint8: 128, int16: 16384, floating point: 0.5).";
  static constexpr const char* kType = "Type of the result; default: the input's.";
  static constexpr const char* kTypes =
      "\n\nShapes and layouts: any; the output keeps both. Types: all; computed in float64 if 32-bit or 64-bit "
      "integers or float64 take part, otherwise in float32.";

  using Lanes = LaneList<float, double>;
  void check(std::span<const ValueType> in) override {
    input_type = in[0].dtype;
    output_type = dtype == DType::none ? input_type : dtype;
  }
  // Only a layout tells the frames: if arguments have one value per frame, an input without a layout is taken as
  // images, by rank.
  Layout input_layout(const ValueType& in) const override {
    const bool frames =
        brightness.frames() || brightness_shift.frames() || contrast.frames() || contrast_center.frames();
    return frames && in.layout.empty() ? image_layout(in) : in.layout;
  }
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Lane lane(std::span<const DType> in, DType out) const override { return intensity_lane(in, out); }
  PENSTOCK_PIXEL(
      template <class V> struct Coef { V mul, add; };
      template <class V> PENSTOCK_HD static V pixel(V in, Coef<V> c) { return fma(in, c.mul, c.add); });
  PENSTOCK_TEXT(
      fold_text, struct Values { float brightness, brightness_shift, contrast, contrast_center; }; struct Known {
        double full;
        float half;  // the center, if none is given
        int32_t has_center;
      };
      template <class V> PENSTOCK_HD static Coef<V> fold(const Values& v, const Known& k) {
        const V center = V(k.has_center ? v.contrast_center : k.half), b = V(v.brightness), c = V(v.contrast);
        return {b * c, V(v.brightness_shift) * V(k.full) + b * (center - c * center)};
      });
  static constexpr auto folded =
      std::tuple{&BrightnessContrastBase::brightness, &BrightnessContrastBase::brightness_shift,
                 &BrightnessContrastBase::contrast, &BrightnessContrastBase::contrast_center};
  void know(Known& k) const {
    k.full = full_range(output_type), k.half = half_range(input_type), k.has_center = contrast_center.given();
  }
  int fused_multiply_adds(const Coef<float>& c, float* mul_add) const {
    return mul_add[0] = c.mul, mul_add[1] = c.add, 1;
  }

  DType input_type = DType::none, output_type = DType::none;
};

}  // namespace penstock
