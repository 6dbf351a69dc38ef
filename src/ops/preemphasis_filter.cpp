// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/signal.h"
#include "operator/stored.h"

namespace penstock {

struct PreemphasisRule {
  PENSTOCK_PIXEL(
      struct Coef {
        float part;
        int64_t before;  // the value before the first one; -1: nothing
      };
      template <class Out, class In> PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char*) {
        const int64_t before = i > 0 ? i - 1 : c.before;
        const float last = before < 0 ? 0.0f : static_cast<float>(in[before]);
        return stored<Out>(static_cast<float>(in[i]) - c.part * last);
      });
};

struct PreemphasisFilter : WholeOperator {
  std::string border = "clamp";
  PerSample<float> preemph_coeff = 0.97f;
  DType dtype = DType::float32;

  static Schema<PreemphasisFilter> schema() {
    using Op = PreemphasisFilter;
    return Schema<Op>("preemphasis_filter",
                      "Subtracts from each sample of a signal a fraction of the sample before it.\n\n"
                      "out[t] = in[t] - coeff * in[t - 1]. Layouts: any; the output keeps it; elements are taken in "
                      "row-major order. Types: numbers of at most 32 bits; computed in float32.\n\n"
                      "Example:\n"
                      ">>> result = fn.preemphasis_filter(np.zeros(16000, np.float32), preemph_coeff=0.97)")
        .arg("border", &Op::border,
             "The value before the first sample: \"zero\", \"clamp\" (the first sample) or \"reflect\" (the second "
             "one).")
        .arg("preemph_coeff", &Op::preemph_coeff, "The fraction.")
        .arg("dtype", &Op::dtype, "Type of the result.")
        .oracle("dali");
  }
  void ready() override {
    if (border != "zero" && border != "clamp" && border != "reflect")
      bad_argument("border must be \"zero\", \"clamp\" or \"reflect\", got \"{}\"", border);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int64_t n = in[0].volume();
    if (n == 0) return;
    const PreemphasisRule::Coef c{preemph_coeff[s.index], border == "zero" ? -1 : border == "reflect" && n > 1 ? 1 : 0};
    const auto host = [=] {
      dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
        dispatch(out[0].dtype, [&]<class R>(TypeTag<R>) {
          const T* x = in[0].as<const T>();
          R* y = out[0].as<R>();
          y[0] = PreemphasisRule::value<R>(x, 0, c, nullptr);
          for (int64_t i = 1; i < n; ++i) y[i] = PreemphasisRule::value<R>(x, i, c, nullptr);
        });
      });
    };
    to.map(in[0], out[0],
           {[] { return std::string(PreemphasisRule::pixel_text); }, coef_bytes_of(c), nullptr, nullptr, host});
  }
};
PENSTOCK_OPERATOR(PreemphasisFilter);

}  // namespace penstock
