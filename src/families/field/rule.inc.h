// SPDX-License-Identifier: Apache-2.0
// The loops over an operator's functions, included once per target by rows.h. The compiler vectorizes them.
template <class Rule> void noisy(const void* coef, const float* in, const float* numbers, int n, float* out) {
  typename Rule::Coef c;  // a copy: nothing below writes to it
  std::memcpy(&c, coef, sizeof c);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) out[i] = Rule::template noisy<float>(in[i], numbers[i], c);
}
template <class Rule> void mean(const void* coef, const float* in, int n, float* out) {
  typename Rule::Coef c;
  std::memcpy(&c, coef, sizeof c);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) out[i] = Rule::template mean<float>(in[i], c);
}
