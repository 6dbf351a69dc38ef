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
      PENSTOCK_HD static double log_factorial(double k) {
        if (k < 10) {
          double product = 1;
          for (double i = 2; i <= k; i += 1) product *= i;
          return log(product);
        }
        const double r = 1 / (k * k);  // Stirling's series
        return (k + 0.5) * log(k) - k + 0.91893853320467274 + (1.0 / 12 - r * (1.0 / 360 - r / 1260)) / k;
      }
      // Try t of element i has its own block.
      PENSTOCK_HD static double poisson(double mean, const RandomStream& draws, uint64_t i) {
        if (mean < 10) {  // inverse of the distribution
          const PhiloxBlock b = draws.block(i);
          const double u = uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32);
          double k = 0;
          double part = exp(-mean);
          double sum = part;
          for (; u >= sum && k < 200; k += 1) part *= mean / (k + 1), sum += part;
          return k;
        }
        const double width = 0.931 + 2.53 * sqrt(mean);
        const double a = -0.059 + 0.02483 * width;
        for (uint64_t t = 0; t < 1024; ++t) {
          const PhiloxBlock b = draws.block(t << 48 | i);
          const double u = uniform01_wide(b.word[0] | uint64_t{b.word[1]} << 32) - 0.5;
          const double v = 1.0 - uniform01_wide(b.word[2] | uint64_t{b.word[3]} << 32);
          const double left = 0.5 - abs(u);
          if (left <= 0) continue;
          const double k = floor((2 * a / left + width) * u + mean + 0.43);
          if (left >= 0.07 && v <= 0.9277 - 3.6224 / (width - 2)) return k;
          if (k < 0 || (left < 0.013 && v > left)) continue;
          const double scale = 1.1239 + 1.1328 / (width - 3.4);
          if (log(v * scale / (a / (left * left) + width)) <= k * log(mean) - mean - log_factorial(k)) return k;
        }
        return floor(mean);
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const double v = static_cast<double>(in[p.inner]);
        if (c.factor == 0 || !(v > 0)) return c.factor == 0 ? static_cast<Out>(in[p.inner]) : stored<Out>(0.0f);
        const double mean = v / c.factor;
        return stored<Out>(mean < 1e15 ? poisson(mean, c.draws, static_cast<uint64_t>(p.inner)) * c.factor : v);
      });
};

struct NoiseShot : NoiseOperator {
  PerSample<float> factor = 20.0f;

  static Schema<NoiseShot> schema() {
    using Op = NoiseShot;
    return Schema<Op>("noise.shot",
                      std::string("Adds shot noise, the noise of counted photons.\n\n"
                                  "Each element becomes factor * P, where P is a Poisson number with the mean element "
                                  "/ factor. Negative elements become 0.") +
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
