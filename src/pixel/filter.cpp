// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penstock {
namespace {

double sinc(double x) {
  if (std::fabs(x) < 1e-9) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

// The kernel at distance t from its center, for a filter of radius r (both in input samples).
double kernel(FilterKind kind, double t, double r) {
  switch (kind) {
    case FilterKind::gaussian: {
      const double x = 2 * t / r;
      return x * x < 4 ? std::exp(-x * x) : 0;
    }
    case FilterKind::cubic: {  // Keys 1981, a = -0.5
      const double x = std::fabs(2 * t / r);
      if (x <= 1) return (1.5 * x - 2.5) * x * x + 1;
      if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
      return 0;
    }
    case FilterKind::lanczos3: {
      const double x = 3 * t / r;
      return std::fabs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
    }
    default: return std::max(0.0, 1 - std::fabs(t) / r);
  }
}

int64_t border_index(AxisFilter::Border border, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (border == AxisFilter::Border::clamp || n == 1) return std::clamp<int64_t>(i, 0, n - 1);
  const int64_t period = border == AxisFilter::Border::wrap           ? n
                         : border == AxisFilter::Border::reflect_1001 ? 2 * n
                                                                      : 2 * n - 2;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i - (border == AxisFilter::Border::reflect_1001);
}

}  // namespace

void make_taps(const AxisFilter& f, int64_t in, int64_t begin, int64_t step, int64_t count, TapTable& table) {
  table.copies = false;
  table.lowest = in, table.highest = 0;
  table.first.resize(count);
  const double scale = f.out ? (f.hi - f.lo) / static_cast<double>(f.out) : 1.0;
  auto center = [&](int64_t i) { return f.lo + (static_cast<double>(begin + i * step) + 0.5) * scale; };
  if (f.kind == FilterKind::nearest) {
    table.copies = true;
    table.taps = 1;
    table.weight.assign(count, 1.0f);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = border_index(f.border, static_cast<int64_t>(std::floor(center(i))), in);
      table.first[i] = static_cast<int32_t>(k);
      table.lowest = std::min(table.lowest, k), table.highest = std::max(table.highest, k + 1);
    }
    return;
  }
  double radius = f.kind == FilterKind::cubic ? 2 : f.kind == FilterKind::lanczos3 ? 3 : 1;
  if (f.antialias && std::fabs(scale) > 1) radius *= std::fabs(scale);
  const bool window = f.kind == FilterKind::window;
  const int64_t full = window ? static_cast<int64_t>(f.window.size()) : static_cast<int64_t>(std::ceil(2 * radius));
  const int taps = static_cast<int>(std::max<int64_t>(1, std::min(full, in)));
  table.taps = taps;
  table.weight.assign(static_cast<size_t>(count) * taps, 0.0f);
  std::vector<double> w(taps);
  for (int64_t i = 0; i < count; ++i) {
    const double c = center(i);
    const int64_t k0 = window ? static_cast<int64_t>(std::floor(c)) - full / 2
                              : static_cast<int64_t>(std::ceil(c - 0.5 - radius));
    // Where folded taps may land: a run of `taps` samples inside the input.
    int64_t lo = std::clamp<int64_t>(k0, 0, in - taps);
    std::fill(w.begin(), w.end(), 0.0);
    double sum = 0;
    for (int64_t k = 0; k < full; ++k) {
      const double v = window ? f.window[k] : kernel(f.kind, static_cast<double>(k0 + k) - (c - 0.5), radius);
      const int64_t at = border_index(f.border, k0 + k, in) - lo;
      sum += v;
      if (at >= 0 && at < taps) w[at] += v;
    }
    if (window || sum == 0) sum = 1;
    float* out = &table.weight[static_cast<size_t>(i) * taps];
    for (int k = 0; k < taps; ++k) out[k] = static_cast<float>(w[k] / sum);
    table.first[i] = static_cast<int32_t>(lo);
    table.lowest = std::min(table.lowest, lo), table.highest = std::max(table.highest, lo + taps);
  }
}

std::vector<float> gaussian_window(float sigma, int size) {
  if (size <= 0) size = 2 * static_cast<int>(std::ceil(3 * sigma)) + 1;
  if (sigma <= 0) sigma = static_cast<float>(((size - 1) / 2 - 1) * 0.3 + 0.8);
  std::vector<double> w(size);
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double x = i - (size - 1) / 2;
    sum += w[i] = std::exp(-x * x / (2.0 * sigma * sigma));
  }
  std::vector<float> out(size);
  for (int i = 0; i < size; ++i) out[i] = static_cast<float>(w[i] / sum);
  return out;
}

}  // namespace penstock
