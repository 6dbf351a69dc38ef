// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/jpeg_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace penstock {
namespace {

TEST(JpegRows, AreTheRulesOnEveryTarget) {
  std::mt19937 draw(3);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t frames = 1 + trial % 2, height = 1 + draw() % 50, width = 1 + draw() % 70;
    JpegBlocksRule::Coef c{};
    c.height = height, c.width = width, c.columns = (width + 15) / 16, c.rows = (height + 15) / 16;
    const uint32_t largest = trial % 3 ? 255 : 3;
    for (auto& s : c.steps) s = static_cast<uint8_t>(1 + draw() % largest);
    std::vector<uint8_t> in(static_cast<size_t>(frames * height * width * 3));
    for (auto& v : in) v = trial % 4 ? static_cast<uint8_t>(draw()) : draw() % 2 ? 255 : 0;
    const int64_t groups = frames * c.rows * c.columns;
    std::vector<uint8_t> wanted_planes(static_cast<size_t>(groups) * 384), planes(wanted_planes.size());
    std::vector<int64_t> memory(6 * 64 / 2);
    c.planes = wanted_planes.data();
    for (int64_t g = 0; g < groups; ++g)
      JpegBlocksRule::group(in.data(), g, c, GroupLanes{}, reinterpret_cast<char*>(memory.data()));
    const JpegColorsRule::Coef colors{{frames, 1, height, width, 3}, c.columns, c.rows, c.planes};
    std::vector<uint8_t> wanted(in.size()), out(in.size());
    run_image_rule<JpegColorsRule>(in.data(), wanted.data(), colors, nullptr);
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      c.planes = planes.data();
      std::ranges::fill(planes, uint8_t{0}), std::ranges::fill(out, uint8_t{0});
      jpeg_blocks(static_cast<Target>(t), in.data(), frames, c);
      ASSERT_EQ(planes, wanted_planes) << height << " x " << width << ", target " << t;
      jpeg_colors(static_cast<Target>(t), out.data(), colors);
      ASSERT_EQ(out, wanted) << height << " x " << width << ", target " << t;
    }
  }
}

}  // namespace
}  // namespace penstock
