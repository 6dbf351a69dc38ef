// SPDX-License-Identifier: Apache-2.0
#include "operator/point_map.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace penstock {
namespace {

// Where (x, y) of the input is in the output.
std::array<double, 2> moved(const PointMap& map, double x, double y) {
  const double w = map.m[6] * x + map.m[7] * y + map.m[8];
  return {(map.m[0] * x + map.m[1] * y + map.m[2]) / w, (map.m[3] * x + map.m[4] * y + map.m[5]) / w};
}

TEST(PointMap, WindowsAndFiltersFollowOneAnother) {
  Placement p({40, 50, 3}, "HWC");
  p.window(1, 49, 50, -1);                      // mirrored: x -> 50 - x
  p.window(1, 10, 30);                          // -> 40 - x
  p.filter(1, {.lo = 0, .hi = 30, .out = 60});  // twice as wide
  p.window(1, 5, 50);                           // without the first 5
  p.window(0, 4, 20);                           // without the first 4 rows
  const auto [x, y] = moved(point_map(p), 20, 10);
  EXPECT_DOUBLE_EQ(x, 2 * (40 - 20) - 5);
  EXPECT_DOUBLE_EQ(y, 6);
}

TEST(PointMap, AffineMapsAreInverted) {
  Placement p({40, 50, 3}, "HWC");
  AffineMap a;
  a.m[0] = 0, a.m[1] = 2, a.m[2] = 3, a.m[3] = -1, a.m[4] = 0, a.m[5] = 7;  // output (x, y) reads (2 y + 3, 7 - x)
  a.out[1] = 30, a.out[2] = 20;
  p.affine(a);
  const auto [x, y] = moved(point_map(p), 13, 5);
  EXPECT_DOUBLE_EQ(x, 2);
  EXPECT_DOUBLE_EQ(y, 5);
}

TEST(PointMap, RefusesWhatHasNoInverse) {
  PointMap flat;
  flat.m[4] = 0;
  EXPECT_THROW(inverse(flat), Error);
  EXPECT_THROW(unmoved_points("FC"), Error);
}

TEST(PointMap, InversesOfRandomMatricesGiveTheIdentity) {
  uint32_t state = 1;
  for (int dims = 2; dims <= 3; ++dims)
    for (int round = 0; round < 50; ++round) {
      PointMap map;
      map.dims = dims;
      const int n = dims + 1;
      for (int i = 0; i < n * n; ++i) {
        state = state * 1664525u + 1013904223u;
        map.m[i] = (i % (n + 1) == 0 ? 3.0 : 0.0) + static_cast<double>(state >> 8) / 16777216.0 - 0.5;
      }
      const PointMap back = inverse(map);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int k = 0; k < n; ++k) sum += map.m[i * n + k] * back.m[k * n + j];
          EXPECT_NEAR(sum, i == j ? 1.0 : 0.0, 1e-12);
        }
    }
}

}  // namespace
}  // namespace penstock
