// SPDX-License-Identifier: Apache-2.0
// The loops of beta_draws.cpp, included once per target. The compiler vectorizes them.

template <bool small>
void attempt_all(const GammaShape& shape, const PhiloxColumns& normal, const PhiloxColumns& other, int n,
                 double* found) {
  const GammaShape s = shape;
  double* __restrict to = found;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i)
    to[i] = gamma_attempt<small>(s, {{normal.word[0][i], normal.word[1][i], normal.word[2][i], normal.word[3][i]},
                                     {other.word[0][i], other.word[1][i], other.word[2][i], other.word[3][i]}});
}
inline void attempts(const GammaShape& s, const PhiloxColumns& normal, const PhiloxColumns& other, int n,
                     double* found) {
  if (s.small) attempt_all<true>(s, normal, other, n, found);
  else attempt_all<false>(s, normal, other, n, found);
}
template <class T> void quotients(const double* log_a, const double* log_b, int n, T* to) {
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) to[i] = static_cast<T>(beta_of(log_a[i], log_b[i]));
}
