// SPDX-License-Identifier: Apache-2.0
#include "families/gather/kept_pixels.h"

#include <algorithm>
#include <limits>

namespace penstock::gather {
namespace {

constexpr int64_t kMostPixels = 1 << 20;  // of 4 MB: to read more takes as long as to find them
constexpr int32_t kFarthest = std::numeric_limits<int16_t>::max();

std::shared_ptr<const PixelPlanes> all_pixels(int32_t height, int32_t width, const PositionLoops& loops) {
  auto made = std::make_shared<PixelPlanes>();
  for (auto& plane : made->axis) plane.resize(static_cast<size_t>(height) * static_cast<size_t>(width));
  Positions<float> found;
  size_t to = 0;
  for (int32_t y = 0; y < height; ++y)
    for (int32_t x = 0; x < width; x += kBlock) {
      const int n = std::min(kBlock, width - x);
      loops.nearest(loops, 0, y, x, n, found);
      for (int a = 0; a < 2; ++a)
        for (int i = 0; i < n; ++i)
          made->axis[a][to + static_cast<size_t>(i)] =
              static_cast<int16_t>(std::clamp(found.at[a][i], -kFarthest, kFarthest));
      to += static_cast<size_t>(n);
    }
  return made;
}

}  // namespace

std::shared_ptr<const PixelPlanes> KeptPixels::planes(int32_t height, int32_t width, const PositionLoops& loops) {
  if (int64_t{height} * width > kMostPixels || std::max(height, width) >= kFarthest) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    const bool same = height == height_ && width == width_;
    if (same && begun_) return planes_;
    begun_ = same;
    if (!same) {
      height_ = height, width_ = width, planes_ = nullptr;
      return nullptr;
    }
  }
  auto made = all_pixels(height, width, loops);
  const std::lock_guard lock(mutex_);
  if (height == height_ && width == width_) planes_ = made;
  return made;
}

}  // namespace penstock::gather
