// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/random_values.h"

namespace penstock {

struct CoinFlip {
  static constexpr int per_block = 4;
  PENSTOCK_PIXEL(
      struct Coef { float probability; }; PENSTOCK_HD static float number(const PhiloxBlock& b, int k, const Coef& c) {
        return uniform01(b.word[k]) < c.probability ? 1.0f : 0.0f;
      });
};

struct RandomCoinFlip : RandomValues {
  PerSample<float> probability = 0.5f;
  RandomCoinFlip() { dtype = DType::int32; }

  static Schema<RandomCoinFlip> schema() {
    using Op = RandomCoinFlip;
    return Schema<Op>("random.coin_flip", std::string("Draws 1 with a given probability, else 0.") + kAbout)
        .arg("probability", &Op::probability, "Probability of a 1.", within(0, 1))
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1)
        .input_names({"shape_like"})
        .random()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    to.draw(out[0], stream(s), draw_rule<CoinFlip>(), bytes_of(CoinFlip::Coef{probability[s.index]}));
  }
  bool draws_scalars() const override { return !shape.given() && probability.constant(); }
  void draw_scalars(std::span<const SampleContext> samples, DType t, void* out) const override {
    draw_scalars_by(draw_rule<CoinFlip>(), bytes_of(CoinFlip::Coef{probability.one()}), samples, t, out);
  }
};
PENSTOCK_OPERATOR(RandomCoinFlip);

}  // namespace penstock
