// SPDX-License-Identifier: Apache-2.0
// Shared by bilateral_filter and joint_bilateral_filter.
#pragma once
#include "families/window/bilateral.h"
#include "families/window/stencil_rows.h"

namespace penstock {

struct BilateralArguments : ImageOperator {
  PerSample<int> diameter = 0;
  PerSample<float> sigma_color = 1.0f, sigma_space = 1.0f;
  std::string border_mode = "reflect_101";

  void ready() override { border_ = image_border("border_mode", border_mode); }
  void check(std::span<const ValueType> in) override {
    const DType type = in[0].dtype;
    if (type != DType::none && (type == DType::bool_ || !window::has_stencils(type)))
      bad_type("expected integers of 8 or 16 bits, float16 or float32, got {}", name_of(type));
  }

 protected:
  window::BilateralCircle circle(int sample) const {
    const auto positive = [](const char* name, float v) {
      if (!(v > 0 && v <= 1e6f)) bad_argument("{} must be above 0, at most 1e6, got {}", name, v);
      return v;
    };
    return {diameter[sample], positive("sigma_color", sigma_color[sample]),
            positive("sigma_space", sigma_space[sample])};
  }
  int border_ = 0;
};

template <class Op> Schema<Op>&& bilateral_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("diameter", &Op::diameter,
           "Of the circle of neighbors, at most 255; an even one counts as the next odd one. 0: 2 * round(1.5 * "
           "sigma_space) + 1, at least 3.",
           within(0, window::kMostBilateral))
      .arg("sigma_color", &Op::sigma_color,
           "Standard deviation of the difference, in units of the image: larger ones blur stronger edges.")
      .arg("sigma_space", &Op::sigma_space, "Standard deviation of the distance, in pixels.")
      .arg("border_mode", &Op::border_mode,
           "The area outside the image: \"reflect_101\", \"reflect\", \"replicate\", \"wrap\", or \"constant\": "
           "zeros.");
}

}  // namespace penstock
