// SPDX-License-Identifier: Apache-2.0
// Shared by operators of the family gather whose outputs have the shapes of their images.
#pragma once
#include "families/gather/gather.h"
#include "operator/any_number.h"
#include "ops/shared/sampling.h"

namespace penstock {

struct SameImage : WholeOperator {
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
};

// With an interpolation and a border that the user names.
struct Distortion : SameImage {
  int interp_type = 1;
  std::string border_mode = "constant";
  float fill_value = 0.0f;

  void ready() override {
    border_ = image_border("border_mode", border_mode);
    sampling_kind("interp_type", interp_type);
  }
  gather::Sampling sampling() const {
    return {static_cast<gather::Filter>(interp_type), static_cast<gather::Border>(border_), fill_value};
  }

 private:
  int border_ = 0;
};

template <class Op> Schema<Op>&& distortion_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("interp_type", &Op::interp_type, "The interpolation: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.")
      .arg("border_mode", &Op::border_mode,
           "The area outside the image: \"constant\", \"replicate\", \"reflect\", \"reflect_101\", \"wrap\".")
      .arg("fill_value", &Op::fill_value, "The value of a \"constant\" border.", any_number)
      .float64(gather::kWhyFloat64)
      .oracle("opencv");
}

}  // namespace penstock
