// SPDX-License-Identifier: Apache-2.0
// The loops of beta_draws.cpp, included once per target. The compiler vectorizes them.

template <bool small, bool quick>
void attempt_all(const BetaShapes& shapes, const BetaColumns& columns, int n, double* found) {
  const BetaShapes s = shapes;
  const PhiloxColumns &normal = columns.normal, &test = columns.test, &boost = columns.boost;
  double* __restrict to = found;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i)
    to[i] = beta_attempt<small, quick>(s, {{normal.word[0][i], normal.word[1][i], normal.word[2][i], normal.word[3][i]},
                                           {test.word[0][i], test.word[1][i], test.word[2][i], test.word[3][i]},
                                           {boost.word[0][i], boost.word[1][i], boost.word[2][i], boost.word[3][i]}});
}
inline void attempts(const BetaShapes& s, const BetaColumns& columns, bool quick, int n, double* found) {
  if (s.small()) quick ? attempt_all<true, true>(s, columns, n, found) : attempt_all<true, false>(s, columns, n, found);
  else quick ? attempt_all<false, true>(s, columns, n, found) : attempt_all<false, false>(s, columns, n, found);
}
