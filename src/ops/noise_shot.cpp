// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct ShotNoiseRule {
  PENSTOCK_PIXEL(
      struct Coef { float factor; }; template <class V> PENSTOCK_HD static V mean(V in, const Coef& c) {
        return in / static_cast<V>(c.factor);
      } template <class V>
      PENSTOCK_HD static V noisy(V, V count, const Coef& c) { return count * static_cast<V>(c.factor); });
};

struct NoiseShot : NoiseOperator {
  PerSample<float> factor = 20.0f;

  static Schema<NoiseShot> schema() {
    using Op = NoiseShot;
    return Schema<Op>("noise.shot",
                      std::string("Adds shot noise, the noise of counted photons.\n\n"
                                  "Each element becomes factor * P, where P is a Poisson number with the mean element "
                                  "/ factor. Negative elements become 0. Counts are drawn in float32 for all types.") +
                          kAbout +
                          " Sources: W. Hoermann, \"The transformed rejection method for generating Poisson random "
                          "variables\", 1993 (PTRS), and inversion for means below 16.")
        .arg("factor", &Op::factor, "Strength of the noise; 0: none.", at_least(0))
        .random()
        .keeps_positions()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const float f = factor[s.index];
    if (f == 0) return to.copy(in[0], out[0]);
    field::add_counts<ShotNoiseRule>(in[0], out[0], {f}, RandomValues::stream(s), to);
  }
};
PENSTOCK_OPERATOR(NoiseShot);

}  // namespace penstock
