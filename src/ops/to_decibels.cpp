// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/shared/signal.h"
#include "pixel/float32.h"

namespace penstock {

struct DecibelRule {
  PENSTOCK_PIXEL(
      struct Coef {
        const float* largest;
        float reference, least, multiplier;
      };
      // The reference of silence is 1.
      PENSTOCK_HD static float top(const Coef& c) {
        const float t = c.largest ? *c.largest : c.reference;
        return t > 0 ? t : 1.0f;
      } template <class Out, class In> PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c,
                                                                    const char*) {
        const float ratio = in[i] * (1 / top(c));
        return c.multiplier * f32::log10(ratio > c.least ? ratio : c.least);
      });
};

struct ToDecibels : WholeOperator {
  float cutoff_db = -200.0f, multiplier = 10.0f;
  Optional<float> reference;

  static Schema<ToDecibels> schema() {
    using Op = ToDecibels;
    return Schema<Op>(
               "to_decibels",
               "Converts magnitudes to decibels.\n\nout = multiplier * log10(max(10^(cutoff_db / multiplier), in / "
               "reference)). Layouts: any; the output keeps it. Input and output: float32.\n\n"
               "Example:\n"
               ">>> fn.to_decibels(np.float32([1.0, 100.0]), reference=1.0).tolist()\n"
               "[0.0, 20.0]")
        .arg("cutoff_db", &Op::cutoff_db, "The minimum result in decibels; lower values are raised to it.")
        .arg("multiplier", &Op::multiplier, "10 for powers, 20 for magnitudes.")
        .arg("reference", &Op::reference,
             "The magnitude of 0 dB, positive; default: the largest magnitude of the sample.")
        .oracle("dali");
  }
  void ready() override {
    if (multiplier == 0) bad_argument("multiplier must not be 0");
    if (reference.given() && !(*reference > 0)) bad_argument("reference must be positive, got {}", *reference);
  }
  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const float one = reference.given() ? *reference : 0.0f;
    const DecibelRule::Coef c{one == 0 ? to.maximum(in[0]) : nullptr, one, std::pow(10.0f, cutoff_db / multiplier),
                              multiplier};
    const auto host = [=] {
      decibels(in[0].as<const float>(), in[0].volume(), DecibelRule::top(c), c.least, c.multiplier, out[0].as<float>());
    };
    to.map(in[0], out[0],
           {[] { return std::string(DecibelRule::pixel_text); }, coef_bytes_of(c), nullptr, nullptr, host});
  }
};
PENSTOCK_OPERATOR(ToDecibels);

}  // namespace penstock
