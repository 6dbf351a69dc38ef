// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_values.h"
#include "pixel/transcendental.h"

namespace penstock {

struct RandomBeta : RandomValues {
  PerSample<float> alpha = 1.0f, beta = 1.0f;

  static Schema<RandomBeta> schema() {
    using Op = RandomBeta;
    return Schema<Op>("random.beta",
                      std::string("Draws numbers from 0 to 1 from a beta distribution.") + kAbout +
                          " Source: two gamma distributed numbers (Marsaglia and Tsang, \"A simple method for "
                          "generating gamma variables\", 2000), compared by their logarithms in float64.")
        .arg("alpha", &Op::alpha, "Shape parameter alpha of the distribution, greater than 0.")
        .arg("beta", &Op::beta, "Shape parameter beta of the distribution, greater than 0.")
        .arg("dtype", &Op::dtype, "float32 or float64.")
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1)
        .input_names({"shape_like"})
        .random()
        .oracle("dali");
  }
  void ready() override {
    if (dtype != DType::float32 && dtype != DType::float64)
      bad_type("dtype must be float32 or float64, got {}", name_of(dtype));
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    const double a = alpha[s.index], b = beta[s.index];
    for (const auto& [name, v] : {std::pair{"alpha", a}, {"beta", b}})
      if (!(v > 0) || v > 1e30) bad_argument("{} must be a positive number, got {}", name, v);
    const RandomStream random = stream(s);
    for (int64_t i = 0, n = out[0].volume(); i < n; ++i) {
      Draws draws{random, static_cast<uint64_t>(i) << 24};
      const double difference = log_gamma(draws, b) - log_gamma(draws, a);
      store_value(out[0], i, 1.0 / (1.0 + exp(difference)));
    }
  }

 private:
  // The blocks of one element.
  struct Draws {
    const RandomStream& random;
    uint64_t next;
  };
  // The logarithm of a gamma distributed number.
  static double log_gamma(Draws& draws, double shape) {
    const bool small = shape < 1;
    const double d = (small ? shape + 1 : shape) - 1.0 / 3, c = 1 / (3 * __builtin_sqrt(d));
    for (;;) {
      const PhiloxBlock normal = draws.random.block(draws.next++), other = draws.random.block(draws.next++);
      const auto uniform = [](const PhiloxBlock& b, int k) {  // in (0, 1]
        return 1.0 - uniform01_wide(b.word[2 * k] | uint64_t{b.word[2 * k + 1]} << 32);
      };
      const double x = __builtin_sqrt(-2 * log(uniform(normal, 0))) * cos(2 * kPi * uniform(normal, 1));
      const double root = 1 + c * x, v = root * root * root;
      if (root <= 0 || log(uniform(other, 0)) >= 0.5 * x * x + d - d * v + d * log(v)) continue;
      return log(d) + log(v) + (small ? log(uniform(other, 1)) / shape : 0.0);
    }
  }
};
PENSTOCK_OPERATOR(RandomBeta);

}  // namespace penstock
