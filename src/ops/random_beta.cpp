// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/beta_draws.h"
#include "ops/shared/random_values.h"

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
    const Drawing::Coef c{stream(s), gamma_shape(a), gamma_shape(b), out[0].dtype == DType::float64};
    if (to.at_once()) return draw_betas(out[0], c.stream, c.alpha, c.beta);
    run_team<Drawing>({.in = {}, .out = {out[0].data}, .units = out[0].volume()}, c, to);
  }

 private:
  struct Drawing {
    PENSTOCK_PIXEL(
        struct Coef {
          RandomStream stream;
          GammaShape alpha;
          GammaShape beta;
          int64_t wide;
        };
        PENSTOCK_HD static double attempt(const GammaShape& s, const PhiloxBlock& normal, const PhiloxBlock& other) {
          const GammaWords w{{normal.word[0], normal.word[1], normal.word[2], normal.word[3]},
                             {other.word[0], other.word[1], other.word[2], other.word[3]}};
          return s.small ? gamma_attempt<true>(s, w) : gamma_attempt<false>(s, w);
        }
        // The logarithm of a gamma distributed number.
        PENSTOCK_HD static double log_gamma(const RandomStream& stream, uint64_t& next, const GammaShape& s) {
          for (;;) {
            const PhiloxBlock normal = stream.block(next++);
            const PhiloxBlock other = stream.block(next++);
            const double found = attempt(s, normal, other);
            if (found == found) return found;
          }
        } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
          for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
            uint64_t next = first_gamma_block(i);
            const double beta = log_gamma(c.stream, next, c.beta);
            const double v = beta_of(log_gamma(c.stream, next, c.alpha), beta);
            if (c.wide) a.to<double>(0)[i] = v;
            else a.to<float>(0)[i] = static_cast<float>(v);
          }
        });
  };
};
PENSTOCK_OPERATOR(RandomBeta);

}  // namespace penstock
