// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct ShotNoiseRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        RandomStream draws;
        float factor;
      };
      // The logarithm of the probability of k, from differences of k and mean: large terms would cancel each other.
      // Source: C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
      PENSTOCK_HD static float log_probability(float k, float mean, float difference) {
        if (k < 1) return -mean;
        const float v = difference / (k + mean);
        const float z = v * v;
        const float near =
            difference * v + 2 * k * v * z * (0.33333334f + z * (0.2f + z * (0.14285715f + z * 0.11111111f)));
        const float deviance = abs(v) < 0.2f ? near : k * f32::log(k / mean) - difference;
        const float r = 1 / k;  // Stirling's series
        return -deviance - 0.5f * f32::log(6.2831855f * k) - r * (0.083333336f - r * r * 0.0027777778f);
      }
      // Try t of element i has its own block. N holds the numbers; what decides is in float32.
      template <class N> PENSTOCK_HD static N poisson(N wide_mean, const RandomStream& draws, uint64_t i) {
        const float mean = static_cast<float>(wide_mean);
        if (mean < 10) {  // inverse of the distribution
          const float u = uniform01(draws.block(i).word[1]);
          float k = 0;
          float part = f32::exp(-mean);
          float sum = part;
          for (; u >= sum && (k < mean || part > 1e-9f); k += 1) part *= mean / (k + 1), sum += part;
          return k;
        }
        const float width = 0.931f + 2.53f * sqrt(mean);
        const float a = -0.059f + 0.02483f * width;
        for (uint64_t t = 0; t < 1024; ++t) {
          const PhiloxBlock b = draws.block(t << 48 | i);
          const float u = static_cast<float>(static_cast<int32_t>(b.word[1] ^ 0x80000000u)) * 0x1p-32f;
          const float v = (static_cast<float>(~b.word[3]) + 0.5f) * 0x1p-32f;
          const float left = 0.5f - abs(u);
          if (left <= 0) continue;
          const N k = floor(wide_mean + ((2 * a / left + width) * u + 0.43f));
          if (left >= 0.07f && v <= 0.9277f - 3.6224f / (width - 2)) return k;
          if (k < 0 || (left < 0.013f && v > left)) continue;
          const float scale = 1.1239f + 1.1328f / (width - 3.4f);
          const float difference = static_cast<float>(k - wide_mean);
          if (f32::log(v * scale / (a / (left * left) + width)) <=
              log_probability(static_cast<float>(k), mean, difference))
            return k;
        }
        return floor(wide_mean);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        using N = NumberOf<In>;
        const N v = static_cast<N>(in[p.inner]);
        if (c.factor == 0 || !(v > 0)) return c.factor == 0 ? static_cast<Out>(in[p.inner]) : stored<Out>(0.0f);
        const N mean = v / c.factor;
        return stored<Out>(mean < 1e15f ? poisson(mean, c.draws, static_cast<uint64_t>(p.inner)) * c.factor : v);
      });
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
                          " Source: W. Hoermann, \"The transformed rejection method for generating Poisson random "
                          "variables\", 1993 (PTRS), and inversion for means below 10.")
        .arg("factor", &Op::factor, "Strength of the noise; 0: none.", at_least(0))
        .random()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    map_image<ShotNoiseRule>(in[0], out[0], {elements(in[0]), RandomValues::stream(s), factor[s.index]}, to);
  }
};
PENSTOCK_OPERATOR(NoiseShot);

}  // namespace penstock
