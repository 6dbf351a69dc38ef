// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct GaussianNoiseRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        RandomStream draws;
        float mean, stddev;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const PhiloxBlock b = c.draws.block(static_cast<uint64_t>(p.inner) >> 1);  // two numbers
        const int odd = static_cast<int>(p.inner & 1);
        using N = NumberOf<In>;
        if constexpr (sizeof(N) == sizeof(float)) {
          // 1 - u, of 64 bits, and its distance from 1: one of them is large, and has few digits there.
          const float low = (static_cast<float>(b.word[1]) + static_cast<float>(b.word[0]) * 0x1p-32f) * -0x1p-32f;
          const float high = (static_cast<float>(~b.word[1]) + static_cast<float>(~b.word[0]) * 0x1p-32f) * 0x1p-32f;
          const float log_u = low > -0.29f ? low - f32::log_rest(low) : f32::log(high);
          const float z = sqrt(-2.0f * log_u) * f32::sin_of_turn(b.word[3], odd);
          return stored<Out>(static_cast<N>(in[p.inner]) + (z * c.stddev + c.mean));
        } else {
          const double u = 1.0 - uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32);
          const double turn = 2 * kPi * uniform01_wide(b.word[2] | uint64_t{b.word[3]} << 32);
          const double z = sqrt(-2.0 * log(u)) * (odd ? cos(turn) : sin(turn));
          return stored<Out>(static_cast<N>(in[p.inner]) + (z * c.stddev + c.mean));
        }
      });
};

struct NoiseGaussian : NoiseOperator {
  PerSample<float> mean = 0.0f, stddev = 1.0f;

  static Schema<NoiseGaussian> schema() {
    using Op = NoiseGaussian;
    return Schema<Op>("noise.gaussian", std::string("Adds normally distributed noise to each element.") + kAbout +
                                            " Source: the Box-Muller transform.")
        .arg("mean", &Op::mean, "Mean of the noise.")
        .arg("stddev", &Op::stddev, "Standard deviation of the noise.", at_least(0))
        .random()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const float deviation = checked_deviation(stddev[s.index]);
    map_image<GaussianNoiseRule>(in[0], out[0], {elements(in[0]), RandomValues::stream(s), mean[s.index], deviation},
                                 to);
  }
};
PENSTOCK_OPERATOR(NoiseGaussian);

}  // namespace penstock
