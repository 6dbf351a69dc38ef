// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/jpeg_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "families/blocks/twin.h"

namespace penstock {
namespace {

TEST(JpegRows, AreTheTwinOnEveryTarget) {
  std::mt19937 draw(3);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t frames = 1 + trial % 2;
    const auto height = static_cast<int32_t>(1 + draw() % 50), width = static_cast<int32_t>(1 + draw() % 70);
    blocks::JpegRow r{nullptr, nullptr, nullptr, height, width, (width + 15) / 16, (height + 15) / 16, {}};
    const uint32_t largest = trial % 3 ? 255 : 3;
    for (auto& s : r.steps) s = static_cast<uint8_t>(1 + draw() % largest);
    const int64_t bytes = int64_t{3} * height * width, groups = int64_t{r.columns} * r.rows;
    std::vector<uint8_t> in(static_cast<size_t>(frames * bytes));
    for (auto& v : in) v = trial % 4 ? static_cast<uint8_t>(draw()) : draw() % 2 ? 255 : 0;
    std::vector<uint8_t> wanted_planes(static_cast<size_t>(frames * groups * 384)), planes(wanted_planes.size());
    std::vector<uint8_t> wanted(in.size()), out(in.size());
    for (int64_t f = 0; f < frames; ++f) {
      blocks::twin_blocks(in.data() + f * bytes, r, wanted_planes.data() + f * groups * 384);
      blocks::twin_colors(wanted_planes.data() + f * groups * 384, r, wanted.data() + f * bytes);
    }
    r.in = in.data(), r.out = out.data(), r.planes = planes.data();
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      std::ranges::fill(planes, uint8_t{0}), std::ranges::fill(out, uint8_t{0});
      jpeg_blocks(static_cast<Target>(t), r, frames);
      ASSERT_EQ(planes, wanted_planes) << height << " x " << width << ", target " << t;
      jpeg_colors(static_cast<Target>(t), r, frames);
      ASSERT_EQ(out, wanted) << height << " x " << width << ", target " << t;
    }
  }
}

}  // namespace
}  // namespace penstock
