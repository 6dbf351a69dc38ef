// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <cmath>

#include "pixel/gaussian_windows.h"

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
  const size_t at = to.size();
  to.resize(at + static_cast<size_t>(size));
  gaussian_windows({&sigma, 1}, size, to.data() + at);
  return size;
}

}  // namespace penstock
