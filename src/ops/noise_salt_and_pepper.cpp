// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/noise.h"

namespace penstock {

struct SaltAndPepperRule {
  PENSTOCK_PIXEL(
      struct Coef {
        float salt, pepper;
        uint32_t last_salt;  // words up to it
      };
      PENSTOCK_HD static float value(uint32_t word, const Coef& c) { return word <= c.last_salt ? c.salt : c.pepper; });
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
        .keeps_positions()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const double replaced = prob[s.index];
    const std::optional<uint32_t> last = field::last_word(replaced);
    if (!last) return to.copy(in[0], out[0]);
    field::Positions positions{in[0].volume(), 1, 1};
    if (const int d = in[0].layout.find('C'); d >= 0 && !per_channel && in[0].volume() > 0) {
      positions.channels = in[0].shape[d];
      positions.count /= positions.channels;
      for (int k = d + 1; k < in[0].shape.size(); ++k) positions.inner *= in[0].shape[k];
    }
    SaltAndPepperRule::Coef c{1, -1, 0};
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T>) {
        c.salt = static_cast<float>(std::numeric_limits<T>::max());
        c.pepper = static_cast<float>(std::numeric_limits<T>::lowest());
      }
    });
    if (salt_val.given()) c.salt = salt_val[s.index];
    if (pepper_val.given()) c.pepper = pepper_val[s.index];
    const std::optional<uint32_t> last_salt = field::last_word(replaced * salt_vs_pepper[s.index]);
    if (last_salt) c.last_salt = *last_salt;
    else c.salt = c.pepper;
    field::replace<SaltAndPepperRule>(in[0], out[0], positions, *last, c, RandomValues::stream(s), to);
  }
};
PENSTOCK_OPERATOR(NoiseSaltAndPepper);

}  // namespace penstock
