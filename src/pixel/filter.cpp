// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/target.h"
#include "pixel/gaussian_windows.h"

namespace penstock {

namespace {

constexpr int kTogether = 8;  // weights that are computed together
void any_kernel_weights(const AxisTaps& a, const OutputTaps& t, double* w) { KernelWeights()(a, t, w); }

#define PENSTOCK_LOOPS filter_loops
#define PENSTOCK_LOOPS_TEXT "pixel/filter_loops.inc.h"
#include "base/foreach_target.h"

// KernelWeights by the target's instructions: x86-64 alone has no fused multiply-add, so that each would be a call.
struct VectorWeights {
  void operator()(const AxisTaps& a, const OutputTaps& t, double* w) const {
    const Target target = best_target();
    PENSTOCK_FOR_TARGET(target, filter_loops, kernel_weights(a, t, w));
  }
};

// The kernel of a kind at distances from 0 to its radius, for estimates: values between two entries are off by less
// than 3e-6. Empty for kinds that are cheap, or that have a step.
class KernelTable {
 public:
  explicit KernelTable(FilterKind kind) {
    if (kind != FilterKind::lanczos3 && kind != FilterKind::lanczos4 && kind != FilterKind::hamming) return;
    value_.resize(kSteps + 2);
    for (int i = 0; i < kSteps; ++i)
      value_[i] = static_cast<float>(filter_kernel(kind, static_cast<double>(i) / kSteps, 1));
  }
  static const KernelTable& of(FilterKind kind) {
    static const KernelTable lanczos3(FilterKind::lanczos3), lanczos4(FilterKind::lanczos4),
        hamming(FilterKind::hamming), none(FilterKind::nearest);
    return kind == FilterKind::lanczos3   ? lanczos3
           : kind == FilterKind::lanczos4 ? lanczos4
           : kind == FilterKind::hamming  ? hamming
                                          : none;
  }
  bool empty() const { return value_.empty(); }
  // At a distance in radii.
  float at(double distance) const {
    const double place = std::min(distance, 1.0) * kSteps;
    const int i = static_cast<int>(place);
    return value_[i] + (value_[i + 1] - value_[i]) * static_cast<float>(place - i);
  }

 private:
  static constexpr int kSteps = 4096;
  std::vector<float> value_;  // from kSteps on 0
};

// About the largest weight of an output none of whose taps is folded.
float estimated_largest(const KernelTable& table, const AxisTaps& axis, const OutputTaps& t) {
  float sum = 0, largest = 0;
  double at = static_cast<double>(t.begin) - (t.center - 0.5);
  for (int64_t k = 0; k < axis.full; ++k, at += 1.0) {
    const float w = table.at(std::fabs(at) * axis.inverse_radius);
    sum += w, largest = std::max(largest, w);
  }
  return sum > 0 ? largest / sum : 1;
}

// The largest weight of an axis. Kernels with sines cost more than all else that a host does for a sample, so estimates
// tell first which outputs it may belong to.
double largest_weight(const AxisTaps& axis, int64_t out) {
  constexpr float kUncertain = 1e-4f;  // several times what two estimates are off
  const KernelTable& table = KernelTable::of(axis.kind);
  std::vector<float> estimate;
  float most = 0;
  if (!table.empty()) {
    estimate.resize(static_cast<size_t>(out), 1);
    for (int64_t o = 0; o < out; ++o) {
      const OutputTaps t = output_taps(axis, o);
      if (t.folded) continue;
      estimate[o] = estimated_largest(table, axis, t);
      most = std::max(most, estimate[o]);
    }
  }
  std::vector<double> w(axis.taps + kTogether);
  std::vector<float> weight(axis.taps);
  double largest = 0;
  for (int64_t o = 0; o < out; ++o) {
    if (!estimate.empty() && estimate[o] < most - kUncertain) continue;
    make_output_taps(axis, o, w.data(), weight.data(), VectorWeights());
    for (const float one : weight) largest = std::max(largest, static_cast<double>(one));
  }
  return largest;
}

// The largest power of two, up to 2^22, whose product with each weight is an integer of 16 bits.
int8_t bits_of_int16(const AxisTaps& axis, int64_t out) {
  const double largest = largest_weight(axis, out);
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
  std::vector<double> w(axis.taps + kTogether);
  for (int64_t i = 0; i < count; ++i) {
    float* const weight = &table.weight[static_cast<size_t>(i) * axis.taps];
    const int64_t first = make_output_taps(axis, begin + i * step, w.data(), weight, VectorWeights()).first;
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
