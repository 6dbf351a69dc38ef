// SPDX-License-Identifier: Apache-2.0
// Operators that replace the numbers along an axis by others: the rule is compiled here, and kept as text for a GPU.
#pragma once
#include "operator/operator.h"

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
  if (n == 1 && m == 1 && inner == 1) {  // element by element
    for (int64_t o = 0; o < outer; ++o) out[o] = Rule::number(Row{in + o, 1}, 0, c);
    return;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t i = 0; i < inner; ++i)
        out[(o * m + j) * inner + i] = Rule::number(Row{in + o * n * inner + i, inner}, j, c);
}
template <class Rule> AxisRule axis_rule() {
  return {[] {
            std::string text;
            if constexpr (requires { Rule::base_text; }) text = Rule::base_text;  // members that several rules share
            return text + Rule::pixel_text;
          },
          &apply_axis_rule<Rule>};
}

}  // namespace penstock
