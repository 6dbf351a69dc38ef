// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct SpeckleNoiseRule {
  PENSTOCK_PIXEL(
      struct Coef { float mean, stddev; }; template <class V> PENSTOCK_HD static V noisy(V in, V z, const Coef& c) {
        return fma(in, fma(z, static_cast<V>(c.stddev), static_cast<V>(c.mean)), in);
      });
};

struct NoiseSpeckle : NoiseOperator {
  PerSample<float> mean = 0.0f, stddev = 0.1f;

  static Schema<NoiseSpeckle> schema() {
    using Op = NoiseSpeckle;
    return Schema<Op>("noise.speckle",
                      std::string("Adds speckle, noise in proportion to each element.\n\n"
                                  "Each element x becomes x + x * n, where n is normally distributed. Nothing is "
                                  "clipped but by the type: images in the range from 0 to 1 may leave it.") +
                          kAbout + kNormal)
        .arg("mean", &Op::mean, "Mean of n.")
        .arg("stddev", &Op::stddev, "Standard deviation of n.", at_least(0))
        .random()
        .keeps_positions()
        .oracle("numpy");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const float deviation = checked_deviation(stddev[s.index]);
    field::add_normals<SpeckleNoiseRule>(in[0], out[0], {mean[s.index], deviation}, RandomValues::stream(s), to);
  }
};
PENSTOCK_OPERATOR(NoiseSpeckle);

}  // namespace penstock
