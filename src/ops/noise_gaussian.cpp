// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct GaussianNoiseRule {
  PENSTOCK_PIXEL(
      struct Coef { float mean, stddev; }; template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef& c) {
        return fma(z, static_cast<V>(c.stddev), in + static_cast<V>(c.mean));
      });
};

struct NoiseGaussian : NoiseOperator {
  PerSample<float> mean = 0.0f, stddev = 1.0f;

  static Schema<NoiseGaussian> schema() {
    using Op = NoiseGaussian;
    return Schema<Op>("noise.gaussian",
                      std::string("Adds normally distributed noise to each element.") + kAbout + kNormal)
        .arg("mean", &Op::mean, "Mean of the noise.")
        .arg("stddev", &Op::stddev, "Standard deviation of the noise.", at_least(0))
        .random()
        .keeps_positions()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const float deviation = checked_deviation(stddev[s.index]);
    field::add_normals<GaussianNoiseRule>(in[0], out[0], {mean[s.index], deviation}, RandomValues::stream(s), to);
  }
};
PENSTOCK_OPERATOR(NoiseGaussian);

}  // namespace penstock
