// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/beta_draws.h"
#include "ops/shared/random_values.h"

namespace penstock {

struct RandomBeta : RandomValues {
  PerSample<float> alpha = 1.0f, beta = 1.0f;

  static Schema<RandomBeta> schema() {
    using Op = RandomBeta;
    return Schema<Op>(
               "random.beta",
               std::string("Draws numbers from 0 to 1 from a beta distribution.") + kAbout +
                   " Source: two gamma distributed numbers (Marsaglia and Tsang, \"A simple method for "
                   "generating gamma variables\", 2000), from one pair of normal numbers (Box and Muller, 1958).")
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
    const Drawing::Coef c{stream(s), {gamma_shape(a), gamma_shape(b)}, out[0].dtype == DType::float64};
    if (to.at_once()) return draw_betas(out[0], c.stream, c.shapes);
    run_team<Drawing>({.in = {}, .out = {out[0].data}, .units = out[0].volume()}, c, to);
  }

 private:
  struct Drawing {
    PENSTOCK_PIXEL(
        struct Coef {
          RandomStream stream;
          BetaShapes shapes;
          int64_t wide;
        };
        template <bool small> PENSTOCK_HD static double number(const Coef& c, uint64_t block) {
          for (;; block += beta_blocks(small)) {
            const PhiloxBlock n = c.stream.block(block);
            const PhiloxBlock t = c.stream.block(block + 1);
            BetaWords w{{n.word[0], n.word[1], n.word[2], n.word[3]}, {t.word[0], t.word[1], t.word[2], t.word[3]}, {}};
            if constexpr (small) {
              const PhiloxBlock more = c.stream.block(block + 2);
              for (int k = 0; k < 4; ++k) w.boost[k] = more.word[k];
            }
            const double found = beta_attempt<small, false>(c.shapes, w);
            if (found == found) return found;
          }
        } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
          for (int64_t i = team.begin + team.index; i < team.end; i += team.count) {
            const uint64_t first = first_gamma_block(i);
            const double v = c.shapes.small() ? number<true>(c, first) : number<false>(c, first);
            if (c.wide) a.to<double>(0)[i] = v;
            else a.to<float>(0)[i] = static_cast<float>(v);
          }
        });
  };
};
PENSTOCK_OPERATOR(RandomBeta);

}  // namespace penstock
