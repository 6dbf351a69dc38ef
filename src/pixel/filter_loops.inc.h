// SPDX-License-Identifier: Apache-2.0
// The loops of filter.cpp, included once per target; the compiler vectorizes kernels over the taps.
// Blocks of kTogether, the last of which may reach beyond the taps, need no loops for a rest.
template <FilterKind kKind>
__attribute__((flatten)) void kernel_row(const AxisTaps& a, const OutputTaps& t, double* w) {
  const double begin = static_cast<double>(t.begin), center = t.center - 0.5;
  for (int from = 0; from < a.taps; from += kTogether)
#pragma GCC unroll 1
    for (int k = from; k < from + kTogether; ++k) w[k] = filter_kernel(kKind, (begin + k) - center, a.inverse_radius);
}
// KernelWeights of common kinds.
inline void kernel_weights(const AxisTaps& a, const OutputTaps& t, double* w) {
  switch (a.kind) {
    case FilterKind::lanczos3: return kernel_row<FilterKind::lanczos3>(a, t, w);
    case FilterKind::lanczos4: return kernel_row<FilterKind::lanczos4>(a, t, w);
    case FilterKind::hamming: return kernel_row<FilterKind::hamming>(a, t, w);
    case FilterKind::cubic: return kernel_row<FilterKind::cubic>(a, t, w);
    case FilterKind::linear:
    case FilterKind::triangular: return kernel_row<FilterKind::triangular>(a, t, w);
    default: any_kernel_weights(a, t, w);
  }
}
