// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/color_formats.h"

#include <array>

#include "ops/shared/color_matrix.h"

namespace penstock {

std::string name_of(ColorFormat f) {
  static constexpr std::array<const char*, 27> kNames = {
      "RGB",  "BGR",      "GRAY", "YCbCr", "ANY_DATA", "RGBA",  "BGRA", "HSV",    "HSV_FULL",
      "HLS",  "HLS_FULL", "Lab",  "Luv",   "XYZ",      "YCrCb", "YUV",  "NV12",   "NV21",
      "I420", "YV12",     "YUYV", "UYVY",  "YVYU",     "NV16",  "NV24", "BGR565", "BGR555"};
  return kNames.at(static_cast<size_t>(f));
}

LumaWeights luma_weights(const ColorArguments& a) {
  if (a.range != "limited" && a.range != "full")
    bad_argument("range must be \"limited\" or \"full\", got \"{}\"", a.range);
  if (a.color_spec == "BT.601") return {.299, .114};
  if (a.color_spec == "BT.709") return {.2126, .0722};
  if (a.color_spec == "BT.2020") return {.2627, .0593};
  bad_argument("color_spec must be \"BT.601\", \"BT.709\" or \"BT.2020\", got \"{}\"", a.color_spec);
}

Layout color_form_layout(const ValueType& in) { return color_layout(in); }

void check_color_form(const ValueType& in) {
  switch (in.dtype) {
    case DType::none:
    case DType::uint8:
    case DType::uint16:
    case DType::float32: return;
    default: bad_type("expected uint8, uint16 or float32, got {}", name_of(in.dtype));
  }
}

}  // namespace penstock
