// SPDX-License-Identifier: Apache-2.0
// The taps of one output of a one-dimensional filter. make_taps fills its tables with them, and kernels compute the
// same bits on the fly. Weights are summed in float64, in the order of the samples, and rounded to float32
// once.
#pragma once
#include <cstdint>

#include "pixel/transcendental.h"

// A loop of few steps or rare ones, which a GPU's compiler would repeat four times.
#ifdef __CUDACC__
#define PENSTOCK_ROLLED _Pragma("unroll 1")
#else
#define PENSTOCK_ROLLED
#endif

namespace penstock {

enum class FilterKind : int8_t {
  nearest,
  linear,
  cubic,
  triangular,
  gaussian,
  lanczos3,
  window,
  box,
  hamming,
  cubic_75,  // Keys' with a = -0.75
  lanczos4,
  area,         // the means of the intervals that outputs cover
  area_linear,  // what OpenCV makes of it where an axis grows
};
// What the position of a nearest sample is rounded down from: the center of the output, or its edge. OpenCV computes
// the edge in float64, torch in float32.
enum class NearestRule : int8_t { center, edge_of_opencv, edge_of_torch };
// What samples outside the axis are: other samples, or with `cut` none, and the weights inside are normalized to 1.
enum class FilterBorder : int8_t { clamp, reflect_101, reflect_1001, wrap, cut };

// A filter on an axis of `in` samples. Output o has `taps` taps around the position lo + (o + 0.5) * scale.
struct AxisTaps {
  FilterKind kind;
  FilterBorder border;
  int8_t bits;  // weights are multiples of 2^-bits; 0: any float32
  NearestRule nearest;
  int32_t taps;  // per output, at most `in`
  int64_t full;  // taps of the kernel; those outside the axis are folded onto samples that the border rule names
  int64_t in;
  double lo, scale, radius, inverse_radius;
  const float* window;  // kind window: `full` weights of a convolution
};

PENSTOCK_HD inline bool is_area(FilterKind kind) { return kind == FilterKind::area || kind == FilterKind::area_linear; }
// Intervals that begin and end between two samples, of `area`.
PENSTOCK_HD inline bool covers_whole_samples(const AxisTaps& a) {
  return floor(a.scale) == a.scale && floor(a.lo) == a.lo && abs(a.scale) >= 1;
}
PENSTOCK_HD inline AxisTaps axis_taps(FilterKind kind, bool antialias, double lo, double hi, int64_t out,
                                      FilterBorder border, const float* window, int64_t window_size, int64_t in) {
  AxisTaps a{kind, border, 0,     NearestRule::center, 1, 1, in, lo, out ? (hi - lo) / static_cast<double>(out) : 1.0,
             0.0,  0.0,    window};
  if (kind == FilterKind::nearest) return a;
  switch (kind) {
    case FilterKind::box: a.radius = 0.5; break;
    case FilterKind::cubic:
    case FilterKind::cubic_75: a.radius = 2; break;
    case FilterKind::lanczos3: a.radius = 3; break;
    case FilterKind::lanczos4: a.radius = 4; break;
    default: a.radius = 1;
  }
  if (is_area(kind)) {
    a.radius = abs(a.scale) / 2, a.inverse_radius = kind == FilterKind::area ? 1 : 1 / abs(a.scale);
    a.full = kind == FilterKind::area_linear ? 2
             : covers_whole_samples(a)       ? static_cast<int64_t>(abs(a.scale))
                                             : static_cast<int64_t>(abs(a.scale)) + 2;
    a.taps = static_cast<int32_t>(max<int64_t>(1, min(a.full, in)));
    return a;
  }
  if (antialias && abs(a.scale) > 1) a.radius *= abs(a.scale);
  a.inverse_radius = 1 / a.radius;
  a.full = kind == FilterKind::window ? window_size : static_cast<int64_t>(ceil(2 * a.radius));
  a.taps = static_cast<int32_t>(max<int64_t>(1, min(a.full, in)));
  return a;
}

PENSTOCK_HD inline double sinc(double x) {
  if (abs(x) < 1e-9) return 1;
  x *= kPi;
  return sin(x) / x;
}

// The kernel at distance t from its center, for a filter of radius 1 / r (t and the radius in input samples).
PENSTOCK_HD inline double filter_kernel(FilterKind kind, double t, double r) {
  switch (kind) {
    case FilterKind::gaussian: {
      const double x = 2 * t * r;
      return x * x < 4 ? exp(-x * x) : 0;
    }
    case FilterKind::cubic: {  // Keys 1981, a = -0.5
      const double x = abs(2 * t * r);
      if (x <= 1) return (1.5 * x - 2.5) * x * x + 1;
      if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
      return 0;
    }
    case FilterKind::cubic_75: {
      const double x = abs(2 * t * r);
      if (x <= 1) return (1.25 * x - 2.25) * x * x + 1;
      if (x < 2) return ((-0.75 * x + 3.75) * x - 6) * x + 3;
      return 0;
    }
    case FilterKind::lanczos3:
    case FilterKind::lanczos4: {
      const double lobes = kind == FilterKind::lanczos3 ? 3 : 4, x = lobes * t * r;
      return abs(x) < lobes ? sinc(x) * sinc(x / lobes) : 0;
    }
    case FilterKind::box: {  // of two samples at the same distance, the one after the position
      const double x = t * r;
      return x > -1 && x <= 1 ? 1 : 0;
    }
    case FilterKind::hamming: {
      const double x = t * r;
      return abs(x) < 1 ? sinc(x) * (0.54 + 0.46 * cos(kPi * x)) : 0;
    }
    default: return max(0.0, 1 - abs(t) * r);
  }
}

PENSTOCK_HD inline int64_t border_index(FilterBorder border, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (border == FilterBorder::clamp || border == FilterBorder::cut || n == 1) return clamp<int64_t>(i, 0, n - 1);
  const int64_t period = border == FilterBorder::wrap ? n : border == FilterBorder::reflect_1001 ? 2 * n : 2 * n - 2;
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i - (border == FilterBorder::reflect_1001);
}

// Where output o reads: its kernel begins at sample `begin`, its taps at `first`. If they are equal and
// the axis has room for all taps, no tap is folded.
struct OutputTaps {
  int64_t begin, first;
  double center;  // of kind area: where the interval begins; of area_linear: the weight of the second sample
  bool folded;
};
PENSTOCK_HD inline double edge_of(const AxisTaps& a, int64_t o) {
  if (a.nearest == NearestRule::edge_of_torch)
    return a.lo + static_cast<double>(static_cast<float>(o) * static_cast<float>(a.scale));
  return a.lo + static_cast<double>(o) * a.scale;
}
// The first sample of an interval, and in t.center what OutputTaps says.
PENSTOCK_HD inline int64_t begin_area(const AxisTaps& a, int64_t o, OutputTaps& t) {
  const double begin = a.lo + static_cast<double>(a.scale < 0 ? o + 1 : o) * a.scale;
  t.center = begin;
  if (a.kind == FilterKind::area)
    return covers_whole_samples(a) ? static_cast<int64_t>(begin) : static_cast<int64_t>(ceil(begin)) - 1;
  const double first = floor(begin), whole = first + 1;  // in outputs: inverse_radius of them are a sample
  const double outputs = a.scale < 0 ? (begin - a.scale - whole) * a.inverse_radius
                                     : static_cast<double>(o + 1) - (whole - a.lo) * a.inverse_radius;
  const double after = static_cast<double>(static_cast<float>(outputs));
  t.center = after > 0 ? after - floor(after) : 0;
  return static_cast<int64_t>(first);
}
PENSTOCK_HD inline OutputTaps output_taps(const AxisTaps& a, int64_t o) {
  OutputTaps t;
  t.center = a.lo + (static_cast<double>(o) + 0.5) * a.scale;
  t.folded = false;
  if (a.kind == FilterKind::nearest) {
    const double at = a.nearest == NearestRule::center ? t.center : edge_of(a, o);
    t.begin = t.first = border_index(a.border, static_cast<int64_t>(floor(at)), a.in);
    return t;
  }
  switch (a.kind) {
    case FilterKind::window: t.begin = static_cast<int64_t>(floor(t.center)) - a.full / 2; break;
    case FilterKind::box: t.begin = static_cast<int64_t>(floor(t.center - 0.5 - a.radius)) + 1; break;
    case FilterKind::area:
    case FilterKind::area_linear: t.begin = begin_area(a, o, t); break;
    default: t.begin = static_cast<int64_t>(ceil(t.center - 0.5 - a.radius));
  }
  t.first = clamp<int64_t>(t.begin, 0, a.in - a.taps);
  t.folded = t.begin < 0 || t.begin + a.full > a.in;
  return t;
}
// How much of sample i the interval covers, as OpenCV counts it: parts below a thousandth do not.
PENSTOCK_HD inline double covered(const AxisTaps& a, const OutputTaps& t, int64_t i) {
  if (covers_whole_samples(a)) return i >= 0 && i < a.in ? 1 : 0;
  const double begin = t.center, end = begin + abs(a.scale);
  const int64_t whole_end = min(static_cast<int64_t>(floor(end)), a.in - 1);
  const int64_t whole = min(static_cast<int64_t>(ceil(begin)), whole_end);
  if (i < 0 || i >= a.in) return 0;
  if (i >= whole && i < whole_end) return 1;
  const double before = static_cast<double>(whole) - begin, after = end - static_cast<double>(whole_end);
  if (i == whole - 1) return before > 1e-3 ? before : 0;
  return i == whole_end && after > 1e-3 ? min(after, 1.0) : 0;
}
// Sample k of the kernel, 0 <= k < full.
PENSTOCK_HD inline double kernel_weight(const AxisTaps& a, const OutputTaps& t, int64_t k) {
  if (a.kind == FilterKind::window) return a.window[k];
  if (a.kind == FilterKind::area) return covered(a, t, t.begin + k);
  if (a.kind == FilterKind::area_linear) return k == 0 ? 1 - t.center : t.center;
  return filter_kernel(a.kind, static_cast<double>(t.begin + k) - (t.center - 0.5), a.inverse_radius);
}
// If the weight of sample k counts; k is folded onto the axis, or `cut` off.
PENSTOCK_HD inline bool kernel_reads(const AxisTaps& a, const OutputTaps& t, int64_t k) {
  return a.border != FilterBorder::cut || (t.begin + k >= 0 && t.begin + k < a.in);
}
// The factor that normalizes the weights of an output.
PENSTOCK_HD inline double kernel_scale(double sum) { return sum == 0 ? 1 : 1 / sum; }
// The factor of an interval, whose part inside counts; inverse_radius raises the result a little (AxisFilter).
PENSTOCK_HD inline double area_scale(const AxisTaps& a, const OutputTaps& t) {
  const double end = static_cast<double>(a.in), length = abs(a.scale);
  const double inside = min(t.center + length, end) - max(t.center, 0.0);
  return (inside > 0 ? a.inverse_radius / (inside < length ? inside : length) : 1);
}
PENSTOCK_HD inline double kernel_scale(const AxisTaps& a, const OutputTaps& t) {
  if (a.kind == FilterKind::window || a.kind == FilterKind::nearest) return 1;
  if (a.kind == FilterKind::area) return area_scale(a, t);
  double sum = 0;
  PENSTOCK_ROLLED
  for (int64_t k = 0; k < a.full; ++k)
    if (kernel_reads(a, t, k)) sum += kernel_weight(a, t, k);
  return kernel_scale(sum);
}

// A weight as the axis keeps it.
PENSTOCK_HD inline float kept_weight(const AxisTaps& a, double w) {
  if (a.bits) {
    const double unit = static_cast<double>(1 << a.bits), steps = floor(abs(w) * unit + 0.5) / unit;
    w = w < 0 ? -steps : steps;
  }
  return static_cast<float>(w);
}

// The weights of the kernel of an output none of whose taps is folded.
struct KernelWeights {
  PENSTOCK_HD void operator()(const AxisTaps& a, const OutputTaps& t, double* w) const {
    for (int k = 0; k < a.taps; ++k) w[k] = kernel_weight(a, t, k);
  }
};

// All weights of output o, written to weight[0, taps); w is scratch memory for `taps` numbers.
template <class Weights = KernelWeights>
PENSTOCK_HD inline OutputTaps make_output_taps(const AxisTaps& a, int64_t o, double* w, float* weight,
                                               const Weights& weights = {}) {
  const OutputTaps t = output_taps(a, o);
  if (a.kind == FilterKind::nearest) {
    weight[0] = 1;
    return t;
  }
  double sum = 0;
  if (t.folded) {
    for (int k = 0; k < a.taps; ++k) w[k] = 0;
    for (int64_t k = 0; k < a.full; ++k) {
      if (!kernel_reads(a, t, k)) continue;
      const double v = kernel_weight(a, t, k);
      sum += v;
      const int64_t at = border_index(a.border, t.begin + k, a.in) - t.first;
      if (at >= 0 && at < a.taps) w[at] += v;
    }
  } else {
    weights(a, t, w);
    for (int k = 0; k < a.taps; ++k) w[k] = 0.0 + w[k], sum += w[k];
  }
  const double scale = a.kind == FilterKind::window ? 1
                       : a.kind == FilterKind::area ? area_scale(a, t)
                                                    : kernel_scale(sum);
  for (int k = 0; k < a.taps; ++k) weight[k] = kept_weight(a, w[k] * scale);
  return t;
}

// Weight k of the same output, computed alone and without scratch; scale = kernel_scale(a, t). Weights that fold onto
// one sample are summed in the order of the kernel: clamp folds runs onto the ends; reflect_101 of a kernel that
// reaches at most one extent beyond the axis folds one sample from each side.
PENSTOCK_HD inline float tap_weight(const AxisTaps& a, const OutputTaps& t, double scale, int k) {
  if (a.kind == FilterKind::nearest) return 1;
  // One loop for all rules: a kernel contains the functions of a filter once.
  const int64_t at = t.first + k, direct = at - t.begin, last = a.in - 1;
  const bool cut = a.border == FilterBorder::cut;
  const bool run = !t.folded || a.border == FilterBorder::clamp || cut || a.in == 1;
  const bool mirrored =
      !run && a.border == FilterBorder::reflect_101 && t.begin >= 1 - a.in && t.begin + a.full <= 2 * a.in - 1;
  int64_t begin = 0, end = mirrored ? 3 : a.full;
  if (!t.folded) {
    begin = k, end = begin + 1;
  } else if (run) {
    begin = at == 0 && !cut ? 0 : max<int64_t>(direct, 0);
    end = at == last && !cut ? a.full : min(direct + 1, a.full);
  }
  double w = 0;
  PENSTOCK_ROLLED
  for (int64_t i = begin; i < end; ++i) {
    int64_t j = i;
    if (mirrored) {
      if ((i == 0 && at == 0) || (i == 2 && at == last)) continue;  // a sample at an edge is its own image
      j = i == 0 ? -at - t.begin : i == 1 ? direct : 2 * last - at - t.begin;
      if (j < 0 || j >= a.full) continue;
    } else if (!run && border_index(a.border, t.begin + j, a.in) != at) {
      continue;
    }
    w += kernel_weight(a, t, j);
  }
  return kept_weight(a, w * scale);
}

}  // namespace penstock
