// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/random_values.h"

namespace penstock {

// Rounding may reach the upper end, which does not belong to the range: `last` is the largest number below it.
struct UniformNarrow {
  static constexpr int per_block = 4;
  PENSTOCK_PIXEL(
    struct Coef { float lo, extent, last; };
    PENSTOCK_HD static float number(const PhiloxBlock& b, int k, const Coef& c) {
      return min(uniform01(b.word[k]) * c.extent + c.lo, c.last);
    });
};
struct UniformWide {
  static constexpr int per_block = 2;
  PENSTOCK_PIXEL(
    struct Coef { double lo, extent, last; };
    PENSTOCK_HD static double number(const PhiloxBlock& b, int k, const Coef& c) {
      return min(uniform01_wide(b.word[2 * k] | uint64_t{b.word[2 * k + 1]} << 32) * c.extent + c.lo, c.last);
    });
};
struct UniformList {
  static constexpr int per_block = 4;
  PENSTOCK_PIXEL(
    struct Coef { uint64_t size; };  // the values follow
    PENSTOCK_HD static float number(const PhiloxBlock& b, int k, const Coef& c) {
      return reinterpret_cast<const float*>(&c + 1)[(uint64_t{b.word[k]} * c.size) >> 32];
    });
};

struct RandomUniform : RandomValues {
  PerSample<std::vector<float>> range = std::vector<float>{-1.0f, 1.0f};
  PerSample<std::vector<float>> values;

  static Schema<RandomUniform> schema() {
    using Op = RandomUniform;
    return Schema<Op>("random.uniform", std::string("Numbers drawn evenly from a range or from a list.") + kAbout)
        .arg("range", &Op::range, "The numbers lie in [range[0], range[1]).")
        .arg("values", &Op::values, "Draw from these, each as likely, instead of from the range.")
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1).input_names({"shape_like"}).random().oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const {
    const RandomStream draws = stream(s);
    if (values.given()) {
      const std::vector<float> list = values[s.index];
      if (list.empty()) bad_argument("values must not be empty");
      const UniformList::Coef c{list.size()};
      std::vector<std::byte> coef(sizeof c + list.size() * sizeof(float));
      std::memcpy(coef.data(), &c, sizeof c);
      std::memcpy(coef.data() + sizeof c, list.data(), list.size() * sizeof(float));
      return to.draw(out[0], draws, draw_rule<UniformList>(), coef);
    }
    const std::vector<float> limits = range[s.index];
    if (limits.size() != 2) bad_argument("range must have 2 values, got {}", limits.size());
    const float lo = limits[0], hi = limits[1];
    if (!(lo < hi)) bad_argument("range must be increasing, got [{}, {})", lo, hi);
    const DType t = out[0].dtype;
    if (size_of(t) < 4 || t == DType::float32)
      to.draw(out[0], draws, draw_rule<UniformNarrow>(), bytes_of(UniformNarrow::Coef{lo, hi - lo, before(hi)}));
    else
      to.draw(out[0], draws, draw_rule<UniformWide>(), bytes_of(UniformWide::Coef{lo, double{hi} - lo, before(double{hi})}));
  }

 private:
  // The largest number below v.
  static float before(float v) { return __builtin_nextafterf(v, -__builtin_inff()); }
  static double before(double v) { return __builtin_nextafter(v, -__builtin_inf()); }
};
PENSTOCK_OPERATOR(RandomUniform);

}  // namespace penstock
