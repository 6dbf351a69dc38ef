// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/random_values.h"

namespace penstock {

struct RandomCoinFlip : RandomValues {
  PerSample<float> probability = 0.5f;
  RandomCoinFlip() { dtype = DType::int32; }

  static Schema<RandomCoinFlip> schema() {
    using Op = RandomCoinFlip;
    return Schema<Op>("random.coin_flip", std::string("Ones with a probability, else zeros.") + kAbout)
        .arg("probability", &Op::probability, "How likely a 1 is.", within(0, 1))
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1).input_names({"shape_like"}).random().oracle("dali");
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const {
    const float p = probability[s.index];
    fill_from_draws(out[0], stream(s), [p](uint32_t bits) { return uniform01(bits) < p ? 1.0 : 0.0; });
  }
};
PENSTOCK_OPERATOR(RandomCoinFlip);

}  // namespace penstock
