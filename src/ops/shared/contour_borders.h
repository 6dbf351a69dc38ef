// SPDX-License-Identifier: Apache-2.0
// The borders of regions and of their holes, by following them (S. Suzuki and K. Abe, "Topological structural analysis
// of digitized binary images by border following", 1985).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock {

struct BorderPoint {
  int32_t x, y;
};
struct RegionBorder {
  bool hole;
  int32_t parent;     // the border that is around it: of a hole that of its region; -1: none
  size_t begin, end;  // points
};
struct RegionBorders {
  std::vector<RegionBorder> all;
  std::vector<BorderPoint> points;
};
// In the order of their first pixels, row by row. With `corners`, points within straight lines are omitted.
RegionBorders find_borders(const uint8_t* mask, int64_t height, int64_t width, bool corners);

}  // namespace penstock
