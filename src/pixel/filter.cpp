// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pixel/gaussian_windows.h"

namespace penstock {

namespace {

// The largest power of two, up to 2^22, whose product with each weight is an integer of 16 bits.
int8_t bits_of_int16(const AxisTaps& axis, int64_t out) {
  std::vector<double> w(axis.taps);
  std::vector<float> weight(axis.taps);
  double largest = 0;
  for (int64_t o = 0; o < out; ++o) {
    make_output_taps(axis, o, w.data(), weight.data());
    for (const float one : weight) largest = std::max(largest, static_cast<double>(one));
  }
  int8_t bits = 0;
  while (bits < 22 && 0.5 + largest * (1 << (bits + 1)) < 1 << 15) ++bits;
  return bits;
}

// The same, kept for the sizes that come again: a sample asks several times, and so do others of its size.
int8_t known_bits_of_int16(const AxisTaps& axis, int64_t out) {
  struct Known {
    AxisTaps axis{};
    int64_t out = -1;
    int8_t bits = 0;
  };
  thread_local std::array<Known, 64> kept;
  Known& k = kept[static_cast<size_t>(axis.in * 31 + out) % kept.size()];
  const AxisTaps& a = k.axis;
  if (k.out != out || a.kind != axis.kind || a.border != axis.border || a.in != axis.in || a.lo != axis.lo ||
      a.scale != axis.scale || a.radius != axis.radius)
    k = {axis, out, bits_of_int16(axis, out)};
  return k.bits;
}

}  // namespace

AxisTaps axis_taps(const AxisFilter& f, int64_t in) {
  const auto size = static_cast<int64_t>(f.window.size());
  AxisTaps axis = axis_taps(f.kind, f.antialias, f.lo, f.hi, f.out, f.border, f.window.data(), size, in);
  if (f.int16_weights && f.kind != FilterKind::nearest && f.kind != FilterKind::window)
    axis.bits = known_bits_of_int16(axis, f.out);
  if (f.bits) axis.bits = f.bits;
  if (f.kind == FilterKind::area && f.rounds_up) axis.inverse_radius = 1 + 0x1p-19;
  axis.nearest = f.nearest;
  const bool opencvs = f.nearest == NearestRule::edge_of_opencv || (is_area(f.kind) && !covers_whole_samples(axis));
  if (opencvs && f.out > 0) {  // a quotient that is rounded twice
    const double inverse = static_cast<double>(f.out) / (f.hi - f.lo);
    axis.scale = 1 / inverse;
    if (f.kind == FilterKind::area_linear) axis.inverse_radius = std::fabs(inverse);
  }
  if (f.nearest == NearestRule::edge_of_torch && f.out > 0)
    axis.scale = static_cast<double>(static_cast<float>(f.hi - f.lo) / static_cast<float>(f.out));
  return axis;
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
