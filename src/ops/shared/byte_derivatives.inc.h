// SPDX-License-Identifier: Apache-2.0
// Sums of Sobel's windows, included once per target by byte_derivatives.cpp.

template <int kTaps>
void sum_columns(const uint8_t* const* rows, const int16_t* weights, int64_t n, int16_t* to) {
  int16_t w[kTaps];
  for (int k = 0; k < kTaps; ++k) w[k] = weights[k];
  const uint8_t* from[kTaps];
  for (int k = 0; k < kTaps; ++k) from[k] = rows[k];
  for (int64_t i = 0; i < n; ++i) {
    auto sum = static_cast<int16_t>(w[0] * from[0][i]);
    for (int k = 1; k < kTaps; ++k) sum = static_cast<int16_t>(sum + w[k] * from[k][i]);
    to[i] = sum;
  }
}

template <int kTaps, class Sum>
void sum_across(const int16_t* from, const int16_t* weights, int64_t step, int64_t n, Sum* to) {
  Sum w[kTaps];
  for (int k = 0; k < kTaps; ++k) w[k] = weights[k];
  for (int64_t i = 0; i < n; ++i) {
    auto sum = static_cast<Sum>(w[0] * from[i]);
    for (int k = 1; k < kTaps; ++k) sum = static_cast<Sum>(sum + w[k] * from[i + k * step]);
    to[i] = sum;
  }
}

inline void columns(const SobelTaps& t, const uint8_t* const* rows, int64_t n, int16_t* to) {
  const int16_t* const w = t.weights.data();
  if (t.size == 1) sum_columns<1>(rows, w, n, to);
  else if (t.size == 3) sum_columns<3>(rows, w, n, to);
  else if (t.size == 5) sum_columns<5>(rows, w, n, to);
  else sum_columns<7>(rows, w, n, to);
}
template <class Sum> void across(const SobelTaps& t, const int16_t* from, int64_t step, int64_t n, Sum* to) {
  const int16_t* const w = t.weights.data();
  if (t.size == 1) sum_across<1>(from, w, step, n, to);
  else if (t.size == 3) sum_across<3>(from, w, step, n, to);
  else if (t.size == 5) sum_across<5>(from, w, step, n, to);
  else sum_across<7>(from, w, step, n, to);
}
