// SPDX-License-Identifier: Apache-2.0
// Rows of tiles give the bytes of plain loops on every target.
#include <gtest/gtest.h>

#include <random>

#include "families/table/tile_rows.h"

namespace penstock::table {
namespace {

TEST(TileRows, EqualTheRuleOnEveryTarget) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const int64_t inner = random() % 2 ? 3 : 1;
    const auto below = [&](unsigned n) { return static_cast<int64_t>(random() % n); };
    const ImageRule::Extents e{1 + below(2), 1, 1 + below(40), 1 + below(600), inner};
    TileTableRule::Coef c{};
    c.height = e.height, c.width = e.width, c.inner = inner;
    c.tiles_y = 1 + random() % 4, c.tiles_x = 1 + random() % 4;
    c.tile_height = e.height / c.tiles_y + 1, c.tile_width = e.width / c.tiles_x + 1;
    c.shift = static_cast<int>(random() % 5), c.bins = 256 >> c.shift;
    c.limit = static_cast<int>(random() % 20);
    c.scale = 255.0f / static_cast<float>(c.tile_height * c.tile_width);
    std::vector<uint8_t> tables(static_cast<size_t>(e.outer * inner * c.tiles_y * c.tiles_x * c.bins));
    c.tables = tables.data();
    const LightnessRule::TileMix mix{tables.data(),
                                     c.tiles_y,
                                     c.tiles_x,
                                     1.0f / static_cast<float>(c.tile_height),
                                     1.0f / static_cast<float>(c.tile_width),
                                     c.bins,
                                     c.shift};
    std::vector<uint8_t> in(static_cast<size_t>(e.outer * e.height * e.width * inner)), out(in.size());
    for (uint8_t& v : in) v = static_cast<uint8_t>(random());
    for (const Target t : {Target::scalar, Target::avx2, best_target()}) {
      if (t > best_target()) continue;
      equalize_tiles(t, in.data(), out.data(), e, c, mix);
      const std::vector<uint8_t> made = tables;
      for (int64_t g = 0; g < e.outer * inner * c.tiles_y * c.tiles_x; ++g) {
        int32_t counts[256];
        TileTableRule::group(in.data(), g, c, GroupLanes{}, reinterpret_cast<char*>(counts));
      }
      ASSERT_EQ(made, tables);
      std::vector<uint8_t> expected(in.size());
      run_image_rule<TileMixRule>(in.data(), expected.data(), {e, mix}, nullptr);
      ASSERT_EQ(out, expected);
    }
  }
}

}  // namespace
}  // namespace penstock::table
