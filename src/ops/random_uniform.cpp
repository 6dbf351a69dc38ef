// SPDX-License-Identifier: Apache-2.0
#include "operator/any_number.h"
#include "ops/shared/random_values.h"

namespace penstock {

// Rounding may reach the upper end, which is outside the range: `last` is the largest number below it.
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
    return Schema<Op>("random.uniform", std::string("Draws numbers uniformly from a range or from a list.") + kAbout)
        .arg("range", &Op::range, "The numbers lie in [range[0], range[1]).")
        .arg("values", &Op::values, "Draw from these values, all equally likely, instead of from the range.",
             any_number)
        .arg("dtype", &Op::dtype, kType)
        .arg("shape", &Op::shape, kShape)
        .inputs(0, 1)
        .input_names({"shape_like"})
        .random()
        .oracle("dali");
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    with_rule(s.index, out[0].dtype,
              [&](const DrawRule& rule, std::span<const std::byte> coef) { to.draw(out[0], stream(s), rule, coef); });
  }
  bool draws_scalars() const override { return !shape.given() && range.constant() && values.constant(); }
  void draw_scalars(std::span<const SampleContext> samples, DType t, void* out) const override {
    with_rule(0, t, [&](const DrawRule& rule, std::span<const std::byte> coef) {
      draw_scalars_by(rule, coef, samples, t, out);
    });
  }

 private:
  // Calls f with the rule and its coefficients for this sample.
  template <class F> void with_rule(int sample, DType t, F&& f) const {
    if (values.given()) {
      const auto list = values.values(sample);
      if (list.empty()) bad_argument("values must not be empty");
      const UniformList::Coef c{list.size()};
      std::vector<std::byte> coef(sizeof c + list.size() * sizeof(float));
      std::memcpy(coef.data(), &c, sizeof c);
      std::memcpy(coef.data() + sizeof c, std::to_address(list.begin()), list.size() * sizeof(float));
      return f(draw_rule<UniformList>(), std::span<const std::byte>(coef));
    }
    const auto limits = range.values(sample);
    if (limits.size() != 2) bad_argument("range must have 2 values, got {}", limits.size());
    const float lo = limits[0], hi = limits[1];
    if (!(lo < hi)) bad_argument("range must be increasing, got [{}, {})", lo, hi);
    if (size_of(t) < 4 || t == DType::float32)
      f(draw_rule<UniformNarrow>(), bytes_of(UniformNarrow::Coef{lo, hi - lo, before(hi)}));
    else f(draw_rule<UniformWide>(), bytes_of(UniformWide::Coef{lo, double{hi} - lo, before(double{hi})}));
  }
  // The largest number below v.
  static float before(float v) { return __builtin_nextafterf(v, -__builtin_inff()); }
  static double before(double v) { return __builtin_nextafter(v, -__builtin_inf()); }
};
PENSTOCK_OPERATOR(RandomUniform);

}  // namespace penstock
