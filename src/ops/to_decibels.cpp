// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/machine/signal.h"

namespace penstock {

struct ToDecibels {
  float cutoff_db = -200.0f, multiplier = 10.0f, reference = 0.0f;

  static Schema<ToDecibels> schema() {
    using Op = ToDecibels;
    return Schema<Op>("to_decibels",
                      "Magnitudes in decibels.\n\nout = multiplier * log10(max(10^(cutoff_db / multiplier), in / reference)). "
                      "Layouts: any, kept. Input and output: float32.")
        .arg("cutoff_db", &Op::cutoff_db, "What is less gets this value.")
        .arg("multiplier", &Op::multiplier, "10 for powers, 20 for magnitudes.")
        .arg("reference", &Op::reference, "The magnitude of 0 dB; 0: the largest of the sample.", at_least(0))
        .oracle("dali");
  }
  void ready() const {
    if (multiplier == 0) bad_argument("multiplier must not be 0");
  }
  void check(std::span<const ValueType> in) const { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = in[0];
  }
  void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const {
    const auto* from = in[0].as<const float>();
    const int64_t n = in[0].volume();
    float top = reference;
    if (reference == 0 && n > 0) top = *std::max_element(from, from + n);
    if (!(top > 0)) top = 1;  // silence
    decibels(from, n, top, std::pow(10.0f, cutoff_db / multiplier), multiplier, out[0].as<float>());
  }
};
PENSTOCK_OPERATOR(ToDecibels);

}  // namespace penstock
