// SPDX-License-Identifier: Apache-2.0
#include "ops/machine/random_values.h"

namespace penstock {

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
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const {
    const RandomStream draws = stream(s);
    if (values.given()) {
      const std::vector<float> list = values[s.index];
      if (list.empty()) bad_argument("values must not be empty");
      return fill_from_draws(out[0], draws, [&](uint32_t bits) { return list[(uint64_t{bits} * list.size()) >> 32]; });
    }
    const std::vector<float> limits = range[s.index];
    if (limits.size() != 2) bad_argument("range must have 2 values, got {}", limits.size());
    const float lo = limits[0], hi = limits[1];
    if (!(lo < hi)) bad_argument("range must be increasing, got [{}, {})", lo, hi);
    const DType t = out[0].dtype;
    if (size_of(t) < 4 || t == DType::float32) {
      // Rounding may reach the upper end, which does not belong to the range.
      const float last = before(hi), extent = hi - lo;
      return fill_from_draws(out[0], draws, [=](uint32_t bits) { return min(uniform01(bits) * extent + lo, last); });
    }
    const double last = before(double{hi}), extent = double{hi} - lo;
    const int64_t n = out[0].volume();
    dispatch(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = out[0].as<T>();
      for (int64_t i = 0; i < n; i += 2) {
        const PhiloxBlock b = draws.block(static_cast<uint64_t>(i) >> 1);
        for (int k = 0; k < 2 && i + k < n; ++k) {
          const double u = uniform01_wide(b.word[2 * k] | uint64_t{b.word[2 * k + 1]} << 32);
          to[i + k] = stored<T>(min(u * extent + lo, last));
        }
      }
    });
  }

 private:
  // The largest number below v.
  static float before(float v) { return __builtin_nextafterf(v, -__builtin_inff()); }
  static double before(double v) { return __builtin_nextafter(v, -__builtin_inf()); }
};
PENSTOCK_OPERATOR(RandomUniform);

}  // namespace penstock
