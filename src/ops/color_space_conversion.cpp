// SPDX-License-Identifier: Apache-2.0
#include "operator/forms.h"
#include "operator/named_numbers.h"
#include "ops/shared/color_formats.h"
#include "ops/shared/color_matrix.h"

namespace penstock {

// RGB, BGR, gray and YCbCr; the forms of the others are in the files _color_*.cpp.
struct ColorSpaceConversion : ColorMap<ColorSpaceConversion>, ColorArguments {
  static Schema<ColorSpaceConversion> schema() {
    using Op = ColorSpaceConversion;
    return Schema<Op>(
               "color_space_conversion",
               "Converts images between color spaces, and frames of cameras and videos to and from RGB.\n\n"
               "Between RGB, BGR, GRAY and YCbCr in any direction; between RGB or BGR and each of HSV, HLS (hue of "
               "uint8: degrees / 2), HSV_FULL, HLS_FULL (hue of uint8: 0 to 255), Lab, Luv, XYZ, YCrCb, YUV; between "
               "RGB, BGR, RGBA, BGRA, GRAY and each of NV12, NV21, I420, YV12, YUYV, UYVY, YVYU, NV16, NV24, BGR565, "
               "BGR555.\n\n"
               "Results of uint8 and uint16 are those of OpenCV's cvtColor, with these exceptions. RGB, BGR, GRAY and "
               "YCbCr (DALI's) are the exact result, rounded to the nearest: GRAY may differ by 1. HSV_FULL, HLS, "
               "HLS_FULL, and RGB of HSV at the end of a row, may differ by 1, Lab and Luv by 2, RGB of Luv by 6. "
               "OpenCV "
               "has no NV16 and NV24, and of frames only BT.601 in limited range: all others have the same arithmetic. "
               "float32 has OpenCV's ranges, such as a hue of 0 to 360; Lab and Luv are CIE's, where OpenCV "
               "interpolates.\n\n"
               "Shapes: GRAY has one channel, RGBA and BGRA have four (alpha is kept, dropped or the largest value), "
               "YUYV, UYVY, YVYU, BGR565 and BGR555 two, other color spaces three. NV12, NV21, I420 and YV12 of height "
               "H have H * 3 / 2 rows of one channel, NV16 2 * H, NV24 3 * H, luma before chroma, as OpenCV; or their "
               "planes are separate inputs: luma, and (H / 2, W / 2, 2) for both chromas of NV12. NV12 to GRAY is the "
               "luma. Chroma of results is that of the upper left pixel for NV12 and the like, the mean of two for "
               "YUYV and the like.\n\n"
               "Layouts: any with H, W and C; without a layout the channels are last. Frames and packed pixels: HWC, "
               "FHWC, and HW for one channel. Types: RGB, BGR, GRAY, YCbCr: all, values are relative to the largest "
               "value of the type (1 for floating point); YCrCb, YUV, XYZ: uint8, uint16, float32; HSV, HLS, Lab, Luv: "
               "uint8, float32; RGBA, BGRA: uint8, uint16, float32; others: uint8.\n\n"
               "Example:\n"
               ">>> fn.color_space_conversion(np.uint8([[[200, 100, 50]]]), image_type=\"RGB\", "
               "output_type=\"HSV\").tolist()\n"
               "[[[10, 191, 200]]]")
        .with(&color_arguments<Op>)
        .inputs(1, 3)
        .input_names({"image", "chroma", "second_chroma"})
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void ready() override { weights_ = luma_weights(*this); }
  void check(std::span<const ValueType> in) override { input_type = in[0].dtype; }
  int channels(int in) const override {
    const int expected = from() == ColorFormat::gray ? 1 : 3;
    if (in != expected) bad_argument("image_type needs images of {} channels, got {}", expected, in);
    return to() == ColorFormat::gray ? 1 : 3;
  }
  ColorMatrix matrix(int) const {
    static const ColorMatrix identity{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {}};
    static const ColorMatrix swap{{{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}}, {}};
    static const ColorMatrix luma{{{{.299, .587, .114}, {.299, .587, .114}, {.299, .587, .114}}}, {}};
    if (from() == to()) return identity;
    const double unit = full_range(input_type) / 255.0, k = 255.0 / y_steps(), black = y_black();
    if (from() == ColorFormat::ycbcr && to() == ColorFormat::gray)
      return {{{{k, 0, 0}, {k, 0, 0}, {k, 0, 0}}}, {-black * k * unit, -black * k * unit, -black * k * unit}};
    if (from() == ColorFormat::gray)
      return to() == ColorFormat::ycbcr
                 ? ColorMatrix{{{{1 / k, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, {black * unit, 128 * unit, 128 * unit}}
                 : identity;
    const ColorMatrix to_rgb = from() == ColorFormat::bgr     ? swap
                               : from() == ColorFormat::ycbcr ? of_ycbcr(unit)
                                                              : identity;
    const ColorMatrix from_rgb = to() == ColorFormat::bgr     ? swap
                                 : to() == ColorFormat::gray  ? luma
                                 : to() == ColorFormat::ycbcr ? to_ycbcr(unit)
                                                              : identity;
    return from_rgb * to_rgb;
  }
  DType input_type = DType::none;

 private:
  double y_steps() const { return is_limited(*this) ? 219 : 255; }
  double y_black() const { return is_limited(*this) ? 16 : 0; }
  bool is_dalis() const { return is_limited(*this) && color_spec == "BT.601"; }
  ColorMatrix of_ycbcr(double unit) const {
    const double k = 255.0 / y_steps(), c = 255.0 / (is_limited(*this) ? 112 : 127.5);
    double red = c * (1 - weights_.red), blue = c * (1 - weights_.blue);
    double of_blue = -blue * weights_.blue / weights_.green(), of_red = -red * weights_.red / weights_.green();
    if (is_dalis()) red = 1.5960267848, blue = 2.0172321417, of_blue = -.39176228842, of_red = -.81296764538;
    const double black = y_black();
    return {{{{k, 0, red}, {k, of_blue, of_red}, {k, blue, 0}}},
            {(-black * k - 128 * red) * unit, (-black * k - 128 * (of_blue + of_red)) * unit,
             (-black * k - 128 * blue) * unit}};
  }
  ColorMatrix to_ycbcr(double unit) const {
    const std::array<double, 3> offset{y_black() * unit, 128 * unit, 128 * unit};
    if (is_dalis())
      return {{{{.25678823529, .50412941176, .09790588235},
                {-.14822289945, -.29099278682, .43921568627},
                {.43921568627, -.36778831435, -.07142737192}}},
              offset};
    const double k = y_steps() / 255.0, c = (is_limited(*this) ? 112 : 127.5) / 255.0;
    const double r = weights_.red, g = weights_.green(), b = weights_.blue;
    return {{{{k * r, k * g, k * b}, {-c * r / (1 - b), -c * g / (1 - b), c}, {c, -c * g / (1 - r), -c * b / (1 - r)}}},
            offset};
  }
  LumaWeights weights_{};
};
PENSTOCK_OPERATOR(ColorSpaceConversion);

namespace {

// What is not RGB of a pair, which must be the other; null: no pair of that kind.
const char* form_of_pair(ColorFormat from, ColorFormat to) {
  const ColorFormat other = is_rgb(from) ? to : from;
  if (!is_rgb(from) && !is_rgb(to)) return nullptr;
  const bool back = other == from;
  switch (other) {
    case ColorFormat::hsv:
    case ColorFormat::hsv_full: return back ? "@of_hue" : "@to_hsv";
    case ColorFormat::hls:
    case ColorFormat::hls_full: return back ? "@of_hue" : "@to_hls";
    case ColorFormat::lab:
    case ColorFormat::luv: return back ? "@of_lab" : "@to_lab";
    case ColorFormat::xyz: return "@xyz";
    case ColorFormat::ycrcb:
    case ColorFormat::yuv: return back ? "@of_luma" : "@to_luma";
    default: return nullptr;
  }
}

std::string choose_form(const OpInfo& info, size_t inputs, std::span<const Argument> args) {
  ColorFormat format[2];
  for (int k = 0; k < 2; ++k) {
    if (!args[k].given()) return info.name;  // which says that it is required
    Argument named;
    named.value = without_name(info.args[k], args[k].value);
    check_range(info.args[k], named);
    format[k] = static_cast<ColorFormat>(value_as<int64_t>(named.value));
    if (format[k] == ColorFormat::any_data) bad_argument("{} must be a color space, got ANY_DATA", info.args[k].name);
  }
  const auto [from, to] = format;
  if (inputs > 1 && !is_frame(from))
    bad_argument("{} is one input, got {}: frames such as NV12 have planes", name_of(from), inputs);
  if (is_of_matrix(from) && is_of_matrix(to)) return info.name;
  if (is_frame(from) || is_frame(to) || is_packed(from) || is_packed(to)) return info.name + "@packed";
  if (const char* form = form_of_pair(from, to)) return info.name + form;
  bad_argument("{} to {} is not one conversion: convert to RGB in between", name_of(from), name_of(to));
}
[[maybe_unused]] const bool has_forms = add_forms("color_space_conversion", &choose_form);

}  // namespace
}  // namespace penstock
