// SPDX-License-Identifier: Apache-2.0
// (value - mean) * factor + shift over elements that share one result, or have results side by side; included once for
// each target by statistics.cpp.

template <class T, class U>
void affine_run(const T* in, U* out, int64_t n, const double* mean, const double* factor, bool apart, double shift) {
  if (apart) {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) out[k] = stored<U>((static_cast<double>(in[k]) - mean[k]) * factor[k] + shift);
  } else {
    const double m = *mean, f = *factor;
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) out[k] = stored<U>((static_cast<double>(in[k]) - m) * f + shift);
  }
}
