// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <cmath>

namespace penstock {

AxisTaps axis_taps(const AxisFilter& f, int64_t in) {
  const auto size = static_cast<int64_t>(f.window.size());
  return axis_taps(f.kind, f.antialias, f.lo, f.hi, f.out, f.border, f.window.data(), size, in);
}

void make_taps(const AxisFilter& f, int64_t in, int64_t begin, int64_t step, int64_t count, TapTable& table) {
  const AxisTaps axis = axis_taps(f, in);
  table.copies = f.kind == FilterKind::nearest;
  table.taps = axis.taps;
  table.lowest = in, table.highest = 0;
  table.first.resize(count);
  table.weight.resize(static_cast<size_t>(count) * axis.taps);
  std::vector<double> w(axis.taps);
  for (int64_t i = 0; i < count; ++i) {
    float* const weight = &table.weight[static_cast<size_t>(i) * axis.taps];
    const int64_t first = make_output_taps(axis, begin + i * step, w.data(), weight).first;
    table.first[i] = static_cast<int32_t>(first);
    table.lowest = std::min(table.lowest, first), table.highest = std::max(table.highest, first + axis.taps);
  }
}

int add_gaussian_window(float sigma, int size, std::vector<float>& to) {
  if (size <= 0) size = 2 * static_cast<int>(std::ceil(3 * sigma)) + 1;
  if (sigma <= 0) sigma = static_cast<float>(((size - 1) / 2 - 1) * 0.3 + 0.8);
  constexpr int kSmall = 64;
  double few[kSmall];
  std::vector<double> many(size > kSmall ? size : 0);
  double* const w = size > kSmall ? many.data() : few;
  const int middle = (size - 1) / 2;
  const double spread = 2.0 * sigma * sigma;
  const bool mirrors = size % 2 == 1;
  const int computed = mirrors ? middle + 1 : size;
  for (int i = 0; i < computed; ++i) {
    const double x = i - middle;
    w[i] = w[mirrors ? size - 1 - i : i] = x == 0 ? 1.0 : std::exp(-x * x / spread);
  }
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += w[i];
  const size_t at = to.size();
  to.resize(at + size);
  float* const out = to.data() + at;
  for (int i = 0; i < computed; ++i) out[i] = out[mirrors ? size - 1 - i : i] = static_cast<float>(w[i] / sum);
  return size;
}

}  // namespace penstock
