// SPDX-License-Identifier: Apache-2.0
// Shared by sphere, water and jitter: the position that each pixel is read from is a function of its own position.
#pragma once
#include "ops/shared/distortion.h"

namespace penstock {

struct Displacement : SameImage {
  PerSample<int> mask = 1;
  int interp_type = 0;
  float fill_value = 0.0f;

  void ready() override { sampling_kind("interp_type", interp_type, 1); }
  // By a rule of the family gather; a sample whose mask is 0 is copied. `kept`: as gather::sample has it.
  template <class Rule> void sample_displaced(const SampleContext& s, const View& in, const View& out,
                                              const typename Rule::Coef& c, SampleWork& to,
                                              const std::shared_ptr<gather::KeptPixels>& kept = nullptr) const {
    if (mask[s.index] == 0) return to.copy(in, out);
    gather::sample<Rule>(in, out, c, {static_cast<gather::Filter>(interp_type), gather::kConstant, fill_value}, to,
                         kept);
  }
};

template <class Op> Schema<Op>&& displacement_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("fill_value", &Op::fill_value, "The value outside the image.", any_number)
      .arg("interp_type", &Op::interp_type, "The interpolation: INTERP_NN or INTERP_LINEAR.")
      .arg("mask", &Op::mask, "0 leaves the sample unchanged.")
      .oracle("dali");
}

}  // namespace penstock
