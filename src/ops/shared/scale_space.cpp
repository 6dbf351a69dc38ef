// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/scale_space.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/target.h"
#include "pixel/host_device.h"

namespace penstock {
namespace {

#define PENSTOCK_LOOPS scale_space_loops
#define PENSTOCK_LOOPS_TEXT "ops/shared/scale_space.inc.h"
#include "base/foreach_target.h"

// The middle of a window of the size that OpenCV chooses for float32, and one half of the others.
std::vector<float> gaussian_half(double sigma) {
  const int size = static_cast<int>(std::nearbyint(sigma * 8 + 1)) | 1;
  std::vector<double> taps(static_cast<size_t>(size / 2 + 1));
  double sum = 0;
  for (size_t k = 0; k < taps.size(); ++k) {
    taps[k] = std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
    sum += k == 0 ? taps[k] : 2 * taps[k];
  }
  std::vector<float> half;
  for (const double v : taps) half.push_back(static_cast<float>(v / sum));
  return half;
}

FloatPlane smoothed(const FloatPlane& in, const std::vector<float>& taps, FloatPlane* difference) {
  const int radius = static_cast<int>(taps.size()) - 1;
  const Target target = best_target();
  FloatPlane out(in.height, in.width);
  if (difference) *difference = FloatPlane(in.height, in.width);
  std::vector<float> padded(static_cast<size_t>(in.width + 2 * radius));
  float* const middle = padded.data() + radius;
  std::vector<const float*> rows(static_cast<size_t>(2 * radius + 1));
  for (int64_t y = 0; y < in.height; ++y) {
    for (int k = -radius; k <= radius; ++k)
      rows[static_cast<size_t>(k + radius)] = in.row(mirrored_place(y + k, in.height));
    PENSTOCK_FOR_TARGET(target, scale_space_loops,
                        blur_down(rows.data() + radius, taps.data(), radius, in.width, middle));
    for (int k = 1; k <= radius; ++k) {
      middle[-k] = middle[mirrored_place(-k, in.width)];
      middle[in.width - 1 + k] = middle[mirrored_place(in.width - 1 + k, in.width)];
    }
    PENSTOCK_FOR_TARGET(target, scale_space_loops, blur_across(middle, taps.data(), radius, in.width, out.row(y)));
    if (difference)
      PENSTOCK_FOR_TARGET(target, scale_space_loops, subtract(out.row(y), in.row(y), in.width, difference->row(y)));
  }
  return out;
}

FloatPlane floats_of_bytes(const uint8_t* gray, int64_t height, int64_t width) {
  FloatPlane out(height, width);
  for (int64_t y = 0; y < height; ++y) std::copy_n(gray + y * width, width, out.row(y));
  return out;
}
// Twice the size: a pixel is 3/4 of the nearest one and 1/4 of the next one, along both axes.
FloatPlane twice_as_large(const FloatPlane& in) {
  FloatPlane out(2 * in.height, 2 * in.width);
  std::vector<float> mixed(static_cast<size_t>(in.width));
  for (int64_t y = 0; y < out.height; ++y) {
    const float* const near = in.row(y / 2);
    const float* const next = in.row(std::clamp<int64_t>(y / 2 + (y % 2 ? 1 : -1), 0, in.height - 1));
    for (int64_t x = 0; x < in.width; ++x) mixed[static_cast<size_t>(x)] = near[x] * 0.75f + next[x] * 0.25f;
    const float* const m = mixed.data();
    float* const to = out.row(y);
    for (int64_t x = 0; x < in.width; ++x) {
      to[2 * x] = m[x] * 0.75f + m[std::max<int64_t>(x - 1, 0)] * 0.25f;
      to[2 * x + 1] = m[x] * 0.75f + m[std::min(x + 1, in.width - 1)] * 0.25f;
    }
  }
  return out;
}
FloatPlane half_size(const FloatPlane& in) {
  FloatPlane out(in.height / 2, in.width / 2);
  for (int64_t y = 0; y < out.height; ++y)
    for (int64_t x = 0; x < out.width; ++x) out.row(y)[x] = in.row(2 * y)[2 * x];
  return out;
}

}  // namespace

std::vector<PlaneExtents> octave_extents(int64_t height, int64_t width, const SiftRule& rule) {
  std::vector<PlaneExtents> octaves;
  if (height == 0 || width == 0) return octaves;
  const int64_t times = rule.expanded ? 2 : 1;
  PlaneExtents next{height * times, width * times};
  const double steps = std::log2(static_cast<double>(std::min(next.height, next.width))) - 2;
  const int count = static_cast<int>(std::nearbyint(steps)) + (rule.expanded ? 1 : 0);
  for (int o = 0; o < count && next.height > 0 && next.width > 0; ++o) {
    octaves.push_back(next);
    next = {next.height / 2, next.width / 2};
  }
  return octaves;
}
std::vector<std::vector<float>> gaussian_halves(const SiftRule& rule) {
  const double known = rule.expanded ? 1.0 : 0.5;  // the deviation that the image is supposed to have
  std::vector<std::vector<float>> halves{
      gaussian_half(std::sqrt(std::max(rule.sigma * rule.sigma - known * known, 0.01)))};
  const double factor = std::exp2(1.0 / rule.layers);
  for (int k = 1; k < rule.layers + 3; ++k) {
    const double before = rule.sigma * std::pow(factor, k - 1), after = before * factor;
    halves.push_back(gaussian_half(std::sqrt(after * after - before * before)));
  }
  return halves;
}
float least_difference(const SiftRule& rule) {
  return static_cast<float>(std::floor(0.5 * rule.contrast_threshold / rule.layers * 255));
}
int64_t mirrored_place(int64_t at, int64_t n) {
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), r = (at % period + period) % period;
  return r < n ? r : period - r;
}

std::vector<Octave> scale_space(const uint8_t* gray, int64_t height, int64_t width, const SiftRule& rule) {
  std::vector<Octave> octaves;
  const auto count = octave_extents(height, width, rule).size();
  if (count == 0) return octaves;
  const std::vector<std::vector<float>> halves = gaussian_halves(rule);
  FloatPlane base = floats_of_bytes(gray, height, width);
  if (rule.expanded) base = twice_as_large(base);
  base = smoothed(base, halves[0], nullptr);
  for (size_t o = 0; o < count; ++o) {
    Octave& octave = octaves.emplace_back();
    octave.smooth.push_back(std::move(base));
    for (size_t k = 1; k < halves.size(); ++k) {
      FloatPlane difference;
      octave.smooth.push_back(smoothed(octave.smooth.back(), halves[k], &difference));
      octave.differences.push_back(std::move(difference));
    }
    if (o + 1 < count) base = half_size(octave.smooth[static_cast<size_t>(rule.layers)]);
  }
  return octaves;
}

}  // namespace penstock
