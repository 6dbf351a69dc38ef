// SPDX-License-Identifier: Apache-2.0
// The loops of filter.cpp, included once per target; the compiler vectorizes kernels over the taps.
template <FilterKind kKind> void kernel_row(const AxisTaps& a, const OutputTaps& t, double* w) {
  const double begin = static_cast<double>(t.begin), center = t.center - 0.5;
  for (int k = 0; k < a.taps; ++k) w[k] = filter_kernel(kKind, (begin + k) - center, a.inverse_radius);
}
struct Weights {
  void operator()(const AxisTaps& a, const OutputTaps& t, double* w) const {
    switch (a.kind) {
      case FilterKind::lanczos3: return kernel_row<FilterKind::lanczos3>(a, t, w);
      case FilterKind::lanczos4: return kernel_row<FilterKind::lanczos4>(a, t, w);
      case FilterKind::hamming: return kernel_row<FilterKind::hamming>(a, t, w);
      case FilterKind::cubic: return kernel_row<FilterKind::cubic>(a, t, w);
      case FilterKind::linear:
      case FilterKind::triangular: return kernel_row<FilterKind::triangular>(a, t, w);
      default: KernelWeights()(a, t, w);
    }
  }
};
__attribute__((flatten)) OutputTaps make_taps_of_output(const AxisTaps& a, int64_t o, double* w, float* weight) {
  return make_output_taps(a, o, w, weight, Weights());
}
