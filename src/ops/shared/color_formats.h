// SPDX-License-Identifier: Apache-2.0
// The formats that color_space_conversion knows, and the arguments that it shares with its forms (operator/forms.h).
#pragma once
#include "operator/operator.h"
#include "ops/shared/intensity.h"

namespace penstock {

// DALI's numbers up to 4; the names are in operator/argument.cpp.
enum class ColorFormat : int64_t {
  rgb,
  bgr,
  gray,
  ycbcr,
  any_data,
  rgba,
  bgra,
  hsv,
  hsv_full,
  hls,
  hls_full,
  lab,
  luv,
  xyz,
  ycrcb,
  yuv,
  nv12,
  nv21,
  i420,
  yv12,
  yuyv,
  uyvy,
  yvyu,
  nv16,
  nv24,
  bgr565,
  bgr555
};

constexpr bool is_rgb(ColorFormat f) { return f == ColorFormat::rgb || f == ColorFormat::bgr; }
constexpr bool has_alpha(ColorFormat f) { return f == ColorFormat::rgba || f == ColorFormat::bgra; }
constexpr bool is_blue_first(ColorFormat f) { return f == ColorFormat::bgr || f == ColorFormat::bgra; }
// Luma and chroma of a camera or of a video, with fewer samples of chroma or as planes.
constexpr bool is_frame(ColorFormat f) { return f >= ColorFormat::nv12 && f <= ColorFormat::nv24; }
// A form for frames and packed pixels computes it.
constexpr bool is_packed(ColorFormat f) { return is_frame(f) || has_alpha(f) || f >= ColorFormat::bgr565; }
// The three DALI has by one matrix.
constexpr bool is_of_matrix(ColorFormat f) { return f <= ColorFormat::ycbcr; }
std::string name_of(ColorFormat f);

struct ColorArguments {
  int64_t image_type = 0, output_type = 0;
  std::string color_spec = "BT.601", range = "limited";

  ColorFormat from() const { return static_cast<ColorFormat>(image_type); }
  ColorFormat to() const { return static_cast<ColorFormat>(output_type); }
};
template <class Op> Schema<Op>&& color_arguments(Schema<Op>&& s) {
  return std::move(s)
      .required("image_type", &Op::image_type,
                "Format of the input: RGB 0, BGR 1, GRAY 2, YCbCr 3, or another name of the list above.", within(0, 26))
      .required("output_type", &Op::output_type, "Format of the result.", within(0, 26))
      .arg("color_spec", &Op::color_spec,
           "\"BT.601\", \"BT.709\" or \"BT.2020\": which luma and chroma YCbCr, NV12 and other frames have.")
      .arg("range", &Op::range,
           "\"limited\": their luma is 16 to 235 of 255, their chroma 16 to 240; \"full\": 0 to 255.");
}

// The weights of red and blue in luma.
struct LumaWeights {
  double red, blue;
  double green() const { return 1 - red - blue; }
};
// Checks color_spec and range.
LumaWeights luma_weights(const ColorArguments& a);
inline bool is_limited(const ColorArguments& a) { return a.range == "limited"; }

// A form that computes pixels of three channels, in a stage.
template <class Op> struct ColorForm : PixelOperator, ColorArguments {
  using Lanes = LaneList<float, double>;
  static Schema<Op> form(const char* name) {
    return Schema<Op>(name, "A form of color_space_conversion.")
        .with(&color_arguments<Op>)
        .inputs(1, 3)
        .hidden()
        .oracle("opencv");
  }
  Layout input_layout(const ValueType& in) const override;
  void check(std::span<const ValueType> in) override;
  void check_channels(int count) const override {
    if (count != 3) bad_argument("image_type {} needs images of three channels, got {}", name_of(from()), count);
  }
  // Integers of 16 bits have sums that float32 does not hold.
  Lane lane(std::span<const DType> in, DType) const override { return in[0] == DType::uint16 ? Lane::f64 : Lane::f32; }

 protected:
  DType type_ = DType::none;
  double full() const { return full_range(type_); }
  bool whole() const { return type_ == DType::uint8 || type_ == DType::uint16; }
};

Layout color_form_layout(const ValueType& in);
void check_color_form(const ValueType& in);
template <class Op> Layout ColorForm<Op>::input_layout(const ValueType& in) const { return color_form_layout(in); }
template <class Op> void ColorForm<Op>::check(std::span<const ValueType> in) {
  check_color_form(in[0]);
  type_ = in[0].dtype;
}

}  // namespace penstock
