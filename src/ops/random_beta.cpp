// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
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
                          "generating gamma variables\", 2000), compared by their logarithms.")
        .arg("alpha", &Op::alpha, "Shape parameter alpha of the distribution, greater than 0.")
        .arg("beta", &Op::beta, "Shape parameter beta of the distribution, greater than 0.")
        .arg("dtype", &Op::dtype, "float32 or float64.")
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1)
        .input_names({"shape_like"})
        .random()
        .float64("shape parameters far from 1 give logarithms that float32 could not tell apart")
        .oracle("dali");
  }
  void ready() override {
    if (dtype != DType::float32 && dtype != DType::float64)
      bad_type("dtype must be float32 or float64, got {}", name_of(dtype));
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    const double a = alpha[s.index], b = beta[s.index];
    for (const auto& [name, v] : {std::pair{"alpha", a}, {"beta", b}})
      if (!(v > 0) || v > 1e30) bad_argument("{} must be a positive number, got {}", name, v);
    run_team<Drawing>({.in = {}, .out = {out[0].data}, .units = out[0].volume()},
                      {stream(s), a, b, out[0].dtype == DType::float64}, to);
  }

 private:
  struct Drawing {
    PENSTOCK_PIXEL(
        struct Coef {
          RandomStream stream;
          double alpha;
          double beta;
          int64_t wide;
        };
        PENSTOCK_HD static double uniform(const PhiloxBlock& b, int k) {  // in (0, 1]
          return 1.0 - uniform01_wide(b.word[2 * k] | uint64_t{b.word[2 * k + 1]} << 32);
        }
        // The logarithm of a gamma distributed number.
        PENSTOCK_HD static double log_gamma(const RandomStream& stream, uint64_t& next, double shape) {
          const bool small = shape < 1;
          const double d = (small ? shape + 1 : shape) - 1.0 / 3;
          const double c = 1 / (3 * sqrt(d));
          for (;;) {
            const PhiloxBlock normal = stream.block(next++);
            const PhiloxBlock other = stream.block(next++);
            const double x = sqrt(-2 * log(uniform(normal, 0))) * cos(2 * kPi * uniform(normal, 1));
            const double root = 1 + c * x;
            const double v = root * root * root;
            if (root <= 0 || log(uniform(other, 0)) >= 0.5 * x * x + d - d * v + d * log(v)) continue;
            return log(d) + log(v) + (small ? log(uniform(other, 1)) / shape : 0.0);
          }
        } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
          for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
            uint64_t next = static_cast<uint64_t>(i) << 24;  // the blocks of one element
            const double beta = log_gamma(c.stream, next, c.beta);
            const double v = 1.0 / (1.0 + exp(beta - log_gamma(c.stream, next, c.alpha)));
            if (c.wide) a.to<double>(0)[i] = v;
            else a.to<float>(0)[i] = static_cast<float>(v);
          }
        });
  };
};
PENSTOCK_OPERATOR(RandomBeta);

}  // namespace penstock
