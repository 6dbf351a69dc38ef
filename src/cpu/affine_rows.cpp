// SPDX-License-Identifier: Apache-2.0
#include "cpu/affine_rows.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

template <class T>
void sample_2d(const AffineSource& s, const AffineMap& map, const std::vector<float>& fill, int64_t x, int64_t y,
               int64_t n, float* const* planes) {
  const T* data = static_cast<const T*>(s.data);
  for (int64_t i = 0; i < n; ++i) {
    const double dx = static_cast<double>(x + i) + 0.5, dy = static_cast<double>(y) + 0.5;
    const double sx = map.m[0] * dx + map.m[1] * dy + map.m[2], sy = map.m[3] * dx + map.m[4] * dy + map.m[5];
    auto value = [&](int64_t px, int64_t py, int c) -> float {
      if (px < 0 || py < 0 || px >= s.width || py >= s.height) {
        if (map.border_fill) return fill[fill.size() > 1 ? c : 0];
        px = std::clamp<int64_t>(px, 0, s.width - 1), py = std::clamp<int64_t>(py, 0, s.height - 1);
      }
      return static_cast<float>(data[py * s.stride_y + px * s.stride_x + c * s.stride_c]);
    };
    const double limit = 1e9;  // keeps the conversions to integers defined
    if (map.kind == FilterKind::nearest) {
      const auto px = static_cast<int64_t>(std::floor(std::clamp(sx, -limit, limit)));
      const auto py = static_cast<int64_t>(std::floor(std::clamp(sy, -limit, limit)));
      for (int c = 0; c < s.channels; ++c) planes[c][i] = value(px, py, c);
      continue;
    }
    const double fx = std::clamp(sx - 0.5, -limit, limit), fy = std::clamp(sy - 0.5, -limit, limit);
    const double px = std::floor(fx), py = std::floor(fy);
    const auto wx = static_cast<float>(fx - px), wy = static_cast<float>(fy - py);
    const auto x0 = static_cast<int64_t>(px), y0 = static_cast<int64_t>(py);
    for (int c = 0; c < s.channels; ++c) {
      const float a = value(x0, y0, c), b = value(x0 + 1, y0, c);
      const float d = value(x0, y0 + 1, c), e = value(x0 + 1, y0 + 1, c);
      const float top = a + (b - a) * wx, bottom = d + (e - d) * wx;
      planes[c][i] = top + (bottom - top) * wy;
    }
  }
}

}  // namespace

void affine_row(const AffineSource& s, const AffineMap& map, const std::vector<float>& fill, int64_t x, int64_t y,
                int64_t z, int64_t n, float* const* planes) {
  (void)z;
  if (map.dims != 2) bad_argument("a 3-d affine map is not supported yet");
  dispatch(s.dtype, [&](auto tag) {
    sample_2d<typename decltype(tag)::type>(s, map, fill, x, y, n, planes);
  });
}

}  // namespace penstock
