// SPDX-License-Identifier: Apache-2.0
// Operators that turn the numbers along an axis into others: the rule is compiled here, and kept as text for a GPU.
#pragma once
#include "ops/machine/operator.h"

namespace penstock {

// Rule: Coef and `number(in, j, coef)` in PENSTOCK_PIXEL.
template <class Rule> void apply_axis_rule(const double* in, double* out, int64_t outer, int64_t n, int64_t m,
                                           int64_t inner, const std::byte* coef) {
  struct Row {
    const double* first;
    int64_t stride;
    double operator[](int64_t k) const { return first[k * stride]; }
  };
  const auto& c = *reinterpret_cast<const typename Rule::Coef*>(coef);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t i = 0; i < inner; ++i)
        out[(o * m + j) * inner + i] = Rule::number(Row{in + o * n * inner + i, inner}, j, c);
}
template <class Rule> AxisRule axis_rule() {
  return {[] { return std::string(Rule::pixel_text); }, &apply_axis_rule<Rule>};
}

// Rows of four float32 numbers: (x, y, width, height) or (left, top, right, bottom).
struct BoxRows {
  bool ltrb = false;

  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    if (in[0].dtype != DType::float32 && in[0].dtype != DType::none)
      bad_type("boxes are float32, not {}", name_of(in[0].dtype));
    if (in[0].ndim == 0) bad_type("boxes are rows of 4 numbers, not single numbers");
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    const int64_t last = in[0][in[0].size() - 1];
    if (last >= 0 && last % 4 != 0) bad_argument("boxes are rows of 4 numbers, the shape is {}", in[0].text());
    out[0] = in[0];
  }
  template <class Rule>
  static void map(const View& in, const View& out, const typename Rule::Coef& coef, SampleWork& to) {
    const Shape rows{in.volume() / 4, 4};
    to.map_axis(reshaped(in, rows), reshaped(out, rows), 1, axis_rule<Rule>(), std::as_bytes(std::span(&coef, 1)));
  }
};

}  // namespace penstock
