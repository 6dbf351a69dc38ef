// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/resize_size.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace penstock {
namespace {

// Regions, extents, requested sizes and their ratios are float32 as in DALI: this decides how a size at a half rounds.
double single(double v) { return static_cast<double>(static_cast<float>(v)); }

// A requested size in float32 as a number of samples, at least one.
int64_t to_samples(double size, ResizeRounding rounding = ResizeRounding::round) {
  const double exact = std::fabs(single(size));
  const double n = rounding == ResizeRounding::round      ? std::round(exact)
                   : rounding == ResizeRounding::truncate ? std::floor(exact)
                                                          : std::ceil(exact);
  if (!(n < 2147483648.0)) bad_argument("a size of {} samples is too large", size);
  return std::max<int64_t>(1, static_cast<int64_t>(n));
}

// In samples; a region that extends beyond the picture by less is used as it is.
constexpr double kFarOutside = 1 << 20;

double cut(double size, double limit) {
  return limit > 0 && std::fabs(size) > limit ? std::copysign(limit, size) : size;
}

}  // namespace

ResizeMode resize_mode(const std::string& name) {
  if (name == "default") return ResizeMode::default_;
  if (name == "stretch") return ResizeMode::stretch;
  if (name == "not_larger") return ResizeMode::not_larger;
  if (name == "not_smaller") return ResizeMode::not_smaller;
  bad_argument("mode must be 'default', 'stretch', 'not_larger' or 'not_smaller', got '{}'", name);
}

ResizeRounding resize_rounding(const std::string& name) {
  if (name == "round") return ResizeRounding::round;
  if (name == "truncate") return ResizeRounding::truncate;
  if (name == "ceil") return ResizeRounding::ceil;
  bad_argument("size_rounding must be 'round', 'truncate' or 'ceil', got '{}'", name);
}

void resized_axes(const ResizeRequest& q, const int64_t* extents, ResizedAxis* result) {
  double lo[kMaxResized], hi[kMaxResized], size[kMaxResized], extent[kMaxResized], ratio[kMaxResized];
  bool given[kMaxResized];
  double smallest = 0, largest = 0, product = 1;
  int count = 0;
  for (int i = 0; i < q.axes; ++i) {
    const double unit = q.relative ? static_cast<double>(extents[i]) : 1.0;
    lo[i] = q.region ? q.lo[i] * unit : 0.0;
    hi[i] = q.region ? q.hi[i] * unit : static_cast<double>(extents[i]);
    if (!std::isfinite(lo[i]) || !std::isfinite(hi[i]) || !std::isfinite(q.wanted[i]))
      bad_argument("sizes and regions must be finite, got a size of {} for the region {} to {}", q.wanted[i], lo[i],
                   hi[i]);
    if (q.region && std::fabs(hi[i] - lo[i]) < 1e-3) {  // an empty region: a sample around its position
      const double grow = lo[i] <= hi[i] ? 0.5e-3 : -0.5e-3;
      lo[i] -= grow, hi[i] += grow;
    }
    lo[i] = single(lo[i]), hi[i] = single(hi[i]);
    size[i] = q.wanted[i];
    if (hi[i] < lo[i]) std::swap(lo[i], hi[i]), size[i] = -size[i];
    extent[i] = single(hi[i] - lo[i]);
    given[i] = size[i] != 0 && extent[i] != 0;
    if (!given[i]) continue;
    ratio[i] = single(std::fabs(size[i] / extent[i]));
    smallest = count ? std::min(smallest, ratio[i]) : ratio[i];
    largest = count ? std::max(largest, ratio[i]) : ratio[i];
    product *= ratio[i];
    ++count;
  }
  if (count == 0) {
    for (int i = 0; i < q.axes; ++i) size[i] = extent[i];
  } else if (q.mode == ResizeMode::default_ || q.mode == ResizeMode::stretch) {
    const double common = q.mode == ResizeMode::stretch ? 1.0
                          : count == 1                  ? product
                          : count == 2                  ? std::sqrt(product)
                                                        : std::cbrt(product);
    for (int i = 0; i < q.axes; ++i) size[i] = cut(given[i] ? size[i] : extent[i] * common, q.limit[i]);
  } else {
    double scale = q.mode == ResizeMode::not_smaller ? largest : smallest;
    for (int i = 0; i < q.axes; ++i)
      if (q.limit[i] > 0 && extent[i] > 0) scale = std::min(scale, q.limit[i] / extent[i]);
    for (int i = 0; i < q.axes; ++i)
      if (!given[i] || ratio[i] != scale)
        size[i] = std::copysign(extent[i] * scale, size[i]);  // also the sign of a zero
  }
  for (int i = 0; i < q.axes; ++i) {
    const double exact = single(size[i]);
    const int64_t n = extents[i] == 0 ? 0 : to_samples(exact, q.rounding);
    double a = lo[i], b = hi[i];
    if (exact < 0) std::swap(a, b);
    const double wanted = std::fabs(exact);
    if (q.subpixel && wanted > 0 && static_cast<double>(n) != wanted) {
      const double grow = std::min(static_cast<double>(n) / wanted, 10.0);
      const double part = q.alignment[i], center = part == 0.5 ? (a + b) / 2 : (1 - part) * a + part * b;
      a = center + (a - center) * grow, b = center + (b - center) * grow;
    }
    // Far outside there is only the border, but its taps would cost as many steps as the region is long.
    const double far = static_cast<double>(extents[i]) + kFarOutside;
    const double from = std::clamp(a, -kFarOutside, far), to = std::clamp(b, -kFarOutside, far);
    if (from != to || a == b) a = from, b = to;
    else a = from, b = from + std::clamp(b - a, -1.0, 1.0);
    result[i] = {a, b, n};
  }
}

int64_t resized_extent(const ResizeRequest& q, int axis) {
  if (q.mode != ResizeMode::default_ && q.mode != ResizeMode::stretch) return -1;
  return q.wanted[axis] != 0 ? to_samples(cut(q.wanted[axis], q.limit[axis])) : -1;
}

}  // namespace penstock
