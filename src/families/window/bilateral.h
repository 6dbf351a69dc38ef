// SPDX-License-Identifier: Apache-2.0
// Bilateral means: each pixel becomes the mean of its neighbors in a circle. They count by a Gaussian of their distance
// times a Gaussian of how much a guide differs there from the center, summed over the guide's channels. The guide may
// be the image. Images and guides have one, three or four channels, and a type that has_stencils().
#pragma once
#include <cmath>

#include "families/window/bilateral_rows.h"
#include "operator/kernel_step.h"

namespace penstock::window {

struct BilateralCircle {
  int64_t diameter;  // 0: from sigma_space
  float sigma_color, sigma_space;
};
constexpr int kMostBilateral = 255;

inline int bilateral_reach(const BilateralCircle& c) {
  const double reach = c.diameter > 0 ? static_cast<double>(c.diameter / 2) : std::nearbyint(1.5 * c.sigma_space);
  if (reach > kMostBilateral / 2)
    bad_argument("a circle of {} pixels is too large: give a diameter of at most {}", 2 * reach + 1, kMostBilateral);
  return std::max(1, static_cast<int>(reach));
}
// By which a square is multiplied to be the exponent of 2 of a Gaussian.
inline double exponent_of(double sigma) { return -0.5 / std::log(2.0) / sigma / sigma; }
inline std::vector<BilateralTap> bilateral_taps(const BilateralCircle& c) {
  const int reach = bilateral_reach(c);
  std::vector<BilateralTap> taps;
  for (int y = -reach; y <= reach; ++y)
    for (int x = -reach; x <= reach; ++x)
      if (x * x + y * y <= reach * reach)
        taps.push_back({y, x, static_cast<float>((x * x + y * y) * exponent_of(c.sigma_space))});
  return taps;
}

inline BilateralPlanes bilateral_planes(const View& v) {
  const int channel = v.layout.find('C'), height = v.layout.find('H');
  const int64_t channels = channel < 0 ? 1 : v.shape[channel];
  if (channels != 1 && channels != 3 && channels != kBilateralChannels)
    bad_argument("expected images of one, three or four channels, got {}", channels);
  const int64_t plane = v.shape[height] * v.shape[height + 1];
  return {v.data, channels, channel > height ? channels : 1, channel > height ? 1 : plane};
}
inline std::string bilateral_rule_text() { return ImageRule::image_text; }

// `guide` null: the image. `out` has the image's shape and type.
inline void bilateral_window(const View& in, const View* guide, const View& out, const BilateralCircle& circle,
                             int border, SampleWork& to) {
  if (out.volume() == 0) return;
  const int h = in.layout.find('H');
  BilateralRow row{};
  row.image = bilateral_planes(in), row.guide = bilateral_planes(guide ? *guide : in), row.out = out.data;
  row.height = in.shape[h], row.width = in.shape[h + 1];
  const int64_t pixels = in.volume() / row.image.channels, images = pixels / (row.height * row.width);
  const std::vector<BilateralTap> taps = bilateral_taps(circle);
  row.count = static_cast<int32_t>(taps.size()), row.border = border, row.joint = guide != nullptr;
  row.color = static_cast<float>(exponent_of(circle.sigma_color));
  const DType dtype = in.dtype;
  const auto host = [=] { bilateral_rows(best_target(), dtype, row, taps, bilateral_reach(circle), images); };
  to.kernel({{"families/window/kernels/bilateral.h", "window::bilateral", {dtype}, {}, &bilateral_rule_text},
             row_bytes(row),
             pixels,
             0,
             image_table(taps),
             offsetof(BilateralRow, taps),
             host});
}

}  // namespace penstock::window
