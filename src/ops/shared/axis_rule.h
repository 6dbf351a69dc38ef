// SPDX-License-Identifier: Apache-2.0
// Operators that replace the numbers along an axis by others: the rule is compiled here, and kept as text for a GPU.
#pragma once
#include "operator/operator.h"

namespace penstock {

// Rule: Coef and `number(in, j, coef)` in PENSTOCK_PIXEL.
template <class In> struct AxisNumbersHere {
  const In* first;
  int64_t stride;
  double operator[](int64_t k) const { return static_cast<double>(first[k * stride]); }
};
template <class Rule> const typename Rule::Coef& coef_here(const std::byte* coef) {
  return *reinterpret_cast<const typename Rule::Coef*>(coef);
}
template <class Rule> void apply_axis_rule(const double* in, double* out, int64_t outer, int64_t n, int64_t m,
                                           int64_t inner, const std::byte* coef) {
  using Row = AxisNumbersHere<double>;
  const auto& c = coef_here<Rule>(coef);
  if (n == 1 && m == 1 && inner == 1) {  // element by element
    for (int64_t o = 0; o < outer; ++o) out[o] = Rule::number(Row{in + o, 1}, 0, c);
    return;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t i = 0; i < inner; ++i)
        out[(o * m + j) * inner + i] = Rule::number(Row{in + o * n * inner + i, inner}, j, c);
}
// Points and vectors of N numbers: loops with constant bounds unroll. A rule that knows n keeps it in its coefficients.
template <class Rule, int N> bool apply_to_vectors(const float* in, float* __restrict out, int64_t outer,
                                                   const std::byte* coef) {
  const auto& c = coef_here<Rule>(coef);
  if constexpr (requires { c.n; })
    if (c.n != N) return false;
  for (int64_t o = 0; o < outer; ++o)
    for (int j = 0; j < N; ++j)
      out[o * N + j] = static_cast<float>(Rule::number(AxisNumbersHere<float>{in + o * N, 1}, j, c));
  return true;
}
template <class Rule> bool apply_to_vectors(const float* in, float* out, int64_t outer, int64_t n,
                                            const std::byte* coef) {
  if (n == 2) return apply_to_vectors<Rule, 2>(in, out, outer, coef);
  if (n == 3) return apply_to_vectors<Rule, 3>(in, out, outer, coef);
  if (n == 4) return apply_to_vectors<Rule, 4>(in, out, outer, coef);
  return false;
}
template <class Rule> AxisRule axis_rule() {
  return {[] {
            std::string text;
            if constexpr (requires { Rule::base_text; }) text = Rule::base_text;  // members that several rules share
            return text + Rule::pixel_text;
          },
          &apply_axis_rule<Rule>};
}

// SampleWork::map_axis with this rule.
template <class Rule> void map_axis_by(const View& in, const View& out, int axis, std::span<const std::byte> coef,
                                       SampleWork& to) {
  const bool vectors = axis == in.shape.size() - 1 && in.shape == out.shape && in.dtype == DType::float32 &&
                       out.dtype == DType::float32 && in.volume() > 0;
  const int64_t n = in.shape[axis];
  if (to.at_once() && vectors &&
      apply_to_vectors<Rule>(in.as<const float>(), out.as<float>(), in.volume() / n, n, coef.data()))
    return;
  to.map_axis(in, out, axis, axis_rule<Rule>(), coef);
}

}  // namespace penstock
