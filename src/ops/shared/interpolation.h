// SPDX-License-Identifier: Apache-2.0
// How a caller specifies a resampling: the filters of the resize family.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>

#include "operator/operator.h"

namespace penstock {

// cv2.INTER_LINEAR_EXACT, which is a form of resize alone.
inline constexpr int kLinearExact = 9;

// The public numbers of the filters (types.INTERP_NN ...).
inline FilterKind filter_kind(const char* argument, int number) {
  constexpr FilterKind kinds[] = {FilterKind::nearest,  FilterKind::linear,     FilterKind::cubic,
                                  FilterKind::lanczos3, FilterKind::triangular, FilterKind::gaussian,
                                  FilterKind::box,      FilterKind::hamming,    FilterKind::area};
  if (number == kLinearExact)
    bad_argument(
        "{} 9 (linear_exact) is for resize with compat='opencv', as interp_type of all samples and without weights, "
        "min_filter and mag_filter",
        argument);
  if (number < 0 || number > 8)
    bad_argument(
        "{} must be 0 (nearest), 1 (linear), 2 (cubic), 3 (lanczos3), 4 (triangular), 5 (gaussian), 6 (box), "
        "7 (hamming) or 8 (area), got {}",
        argument, number);
  return kinds[number];
}

struct Interpolation {
  PerSample<int> interp_type = 1;
  PerSample<int> mag_filter = 1;
  PerSample<int> min_filter = 1;
  bool antialias = true;
  int minibatch_size = 32;
  int64_t temp_buffer_hint = 0;

  static bool shrinks(double lo, double hi, int64_t out) {
    return static_cast<double>(out) < std::fabs(hi - lo) * (1 - 1e-6);
  }
  // [lo, hi) of an axis becomes `out` samples; lo > hi mirrors.
  AxisWindow axis_window(int sample, double lo, double hi, int64_t out) const {
    const bool less = shrinks(lo, hi, out);
    const PerSample<int>& own = less ? min_filter : mag_filter;
    const bool general = interp_type.given() && !own.given();
    FilterKind kind = general ? filter_kind("interp_type", interp_type[sample])
                              : filter_kind(less ? "min_filter" : "mag_filter", own[sample]);
    if (kind == FilterKind::area && static_cast<double>(out) > std::fabs(hi - lo)) kind = FilterKind::area_linear;
    return {lo, hi, out, kind, antialias && less};
  }
  // `lo` and `hi` apart, the result of axis_window() follows from shrinks().
  bool constant_filters() const { return interp_type.constant() && mag_filter.constant() && min_filter.constant(); }
  // Where one axis of an area grows, OpenCV interpolates along all.
  static void join_areas(std::span<AxisFilter> filters) {
    const auto grows = [](const AxisFilter& f) { return f.kind == FilterKind::area_linear; };
    if (std::ranges::none_of(filters, grows)) return;
    for (AxisFilter& f : filters)
      if (f.kind == FilterKind::area) f.kind = FilterKind::area_linear;
  }
  static AxisFilter filter_of(const AxisWindow& w) {
    AxisFilter f;
    f.kind = w.kind, f.antialias = w.antialias;
    f.lo = w.lo, f.hi = w.hi, f.out = w.out;
    return f;
  }
};

template <class Op> Schema<Op>&& interpolation_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("interp_type", &Op::interp_type,
           "Default of min_filter and mag_filter. area: the mean of what an output covers, OpenCV's INTER_AREA. box, "
           "hamming: Pillow's. linear_exact: OpenCV's INTER_LINEAR_EXACT, of resize with compat=\"opencv\" alone.")
      .arg("mag_filter", &Op::mag_filter, "Filter of axes that grow.")
      .arg("min_filter", &Op::min_filter, "Filter of axes that shrink.")
      .arg("antialias", &Op::antialias, "Antialiasing: widen the filter of an axis that shrinks; no effect on nearest.")
      .arg("minibatch_size", &Op::minibatch_size, "Accepted without effect.")
      .arg("temp_buffer_hint", &Op::temp_buffer_hint, "Accepted without effect.");
}

}  // namespace penstock
