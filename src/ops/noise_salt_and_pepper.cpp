// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct SaltAndPepperRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;  // (extent before the channels, channels as `width`, extent after them)
        RandomStream draws;
        float salt, pepper;
        float probability, part_of_salt;
        int per_channel;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t i = (p.outer * c.out.width + p.x) * c.out.inner + p.inner;
        const int64_t pixel = c.per_channel ? i : p.outer * c.out.inner + p.inner;
        const PhiloxBlock b = c.draws.block(static_cast<uint64_t>(pixel) >> 1);
        const int k = static_cast<int>(pixel & 1) * 2;
        if (!(uniform01(b.word[k]) < c.probability)) return static_cast<Out>(in[i]);
        return stored<Out>(uniform01(b.word[k + 1]) < c.part_of_salt ? c.salt : c.pepper);
      });
};

struct NoiseSaltAndPepper : NoiseOperator {
  PerSample<float> prob = 0.05f, salt_vs_pepper = 0.5f, salt_val, pepper_val;
  bool per_channel = false;

  static Schema<NoiseSaltAndPepper> schema() {
    using Op = NoiseSaltAndPepper;
    return Schema<Op>("noise.salt_and_pepper",
                      std::string("Replaces random elements by a low or a high value.") + kAbout)
        .arg("pepper_val", &Op::pepper_val,
             "The low value; default: the smallest value of integer types, -1 for floating point.")
        .arg("per_channel", &Op::per_channel,
             "True: each element has its own draw. False: all channels of a position (by the layout) share one draw.")
        .arg("prob", &Op::prob, "Probability that an element is replaced.", within(0, 1))
        .arg("salt_val", &Op::salt_val,
             "The high value; default: the largest value of integer types, 1 for floating point.")
        .arg("salt_vs_pepper", &Op::salt_vs_pepper, "Probability that a replaced element gets the high value.",
             within(0, 1))
        .random()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    SaltAndPepperRule::Coef c{elements(in[0]), RandomValues::stream(s), 1, -1,
                              prob[s.index],   salt_vs_pepper[s.index], 1};
    if (const int d = in[0].layout.find('C'); d >= 0 && !per_channel) {
      c.per_channel = 0;
      c.out = {1, 1, 1, in[0].shape[d], 1};
      for (int k = 0; k < in[0].shape.size(); ++k)
        if (k != d) (k < d ? c.out.outer : c.out.inner) *= in[0].shape[k];
    }
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>) {
        c.salt = static_cast<float>(std::numeric_limits<T>::max());
        c.pepper = static_cast<float>(std::numeric_limits<T>::lowest());
      }
    });
    if (salt_val.given()) c.salt = salt_val[s.index];
    if (pepper_val.given()) c.pepper = pepper_val[s.index];
    map_image<SaltAndPepperRule>(in[0], out[0], c, to);
  }
};
PENSTOCK_OPERATOR(NoiseSaltAndPepper);

}  // namespace penstock
