// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/machine/operator.h"
#include "ops/machine/stored.h"

namespace penstock {

struct PreemphasisFilter {
  std::string border = "clamp";
  PerSample<float> preemph_coeff = 0.97f;
  DType dtype = DType::float32;

  static Schema<PreemphasisFilter> schema() {
    using Op = PreemphasisFilter;
    return Schema<Op>("preemphasis_filter",
                      "Subtracts from each sample of a signal a part of the one before: out[t] = in[t] - coeff * in[t - 1].\n\n"
                      "Layouts: any, kept; elements count in their order. Types: numbers of at most 32 bits; computed in float32.")
        .arg("border", &Op::border, "What stands before the first: \"zero\", \"clamp\" (it itself) or \"reflect\" (the second).")
        .arg("preemph_coeff", &Op::preemph_coeff, "The part.")
        .arg("dtype", &Op::dtype, "Type of the result.")
        .oracle("dali");
  }
  void ready() const {
    if (border != "zero" && border != "clamp" && border != "reflect")
      bad_argument("border must be \"zero\", \"clamp\" or \"reflect\", got \"{}\"", border);
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    out[0] = in[0];
    out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = in[0];
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const {
    const int64_t n = in[0].volume();
    if (n == 0) return;
    thread_local std::vector<float> x;
    x.resize(n);
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) { std::copy_n(in[0].as<const T>(), n, x.data()); });
    const float c = preemph_coeff[s.index];
    const float before = border == "zero" ? 0 : x[border == "reflect" && n > 1 ? 1 : 0];
    dispatch(dtype, [&]<class T>(TypeTag<T>) {
      T* to = out[0].as<T>();
      to[0] = stored<T>(x[0] - c * before);
      for (int64_t i = 1; i < n; ++i) to[i] = stored<T>(x[i] - c * x[i - 1]);
    });
  }
};
PENSTOCK_OPERATOR(PreemphasisFilter);

}  // namespace penstock
