// SPDX-License-Identifier: Apache-2.0
// The kernels as ordinary C++, with fibers for threads, give what the rules give, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "families/table/kernels/tiles.h"
#include "families/table/local_histograms.h"

namespace penstock::table {
namespace {

template <int inner> void compare(std::mt19937& random) {
  const auto number = [&](int32_t most) { return 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(most)); };
  TilesRow r{};
  r.height = number(70), r.width = number(90), r.tiles_y = number(5), r.tiles_x = number(6);
  const auto tile = [&](int32_t n, int32_t tiles, bool even) { return even ? n / tiles : n / tiles + 1; };
  const bool even = r.height % r.tiles_y == 0 && r.width % r.tiles_x == 0;
  r.tile_height = tile(r.height, r.tiles_y, even), r.tile_width = tile(r.width, r.tiles_x, even);
  r.shift = static_cast<int32_t>(random() % 4), r.bins = 256 >> r.shift;
  const int32_t area = r.tile_height * r.tile_width;
  r.limit = random() % 3 ? std::max(1, 2 * area / r.bins) : 0;
  r.scale = 255.0f / static_cast<float>(area);
  r.per_height = 1.0f / static_cast<float>(r.tile_height), r.per_width = 1.0f / static_cast<float>(r.tile_width);
  const int64_t images = number(2), planes = images * inner, tiles = planes * r.tiles_y * r.tiles_x;
  const auto n = static_cast<size_t>(images * r.height * r.width * inner);
  const size_t shift = random() % 4, past = random() % 2 ? shift : random() % 4;
  std::vector<uint8_t> in(n + shift), out(n + past + 1, 7), wanted(n);
  for (uint8_t& v : in) v = static_cast<uint8_t>(random() % 3 ? random() % 40 : random());
  std::vector<uint8_t> tables(static_cast<size_t>(tiles * r.bins)), rule_tables(tables.size());
  r.in = in.data() + shift, r.out = out.data() + past, r.tables = tables.data();
  whole::launch<TilesRow>({r}, {tiles}, 2, tile_tables<inner>);
  whole::launch<TilesRow>({r}, {planes * (r.tiles_y + 1) * (r.tiles_x + 1)}, 2, mix_tiles<inner>);

  TileTableRule::Coef c{};
  c.height = r.height, c.width = r.width, c.inner = inner, c.tile_height = r.tile_height, c.tile_width = r.tile_width;
  c.tiles_y = r.tiles_y, c.tiles_x = r.tiles_x, c.tables = rule_tables.data(), c.scale = r.scale, c.limit = r.limit;
  c.bins = r.bins, c.shift = r.shift;
  std::vector<int32_t> memory(256);
  for (int64_t g = 0; g < tiles; ++g)
    TileTableRule::group(r.in, g, c, GroupLanes{}, reinterpret_cast<char*>(memory.data()));
  ASSERT_EQ(tables, rule_tables);
  const LightnessRule::TileMix mix{rule_tables.data(), r.tiles_y, r.tiles_x, r.per_height,
                                   r.per_width,        r.bins,    r.shift};
  run_image_rule<TileMixRule>(r.in, wanted.data(), {{images, 1, r.height, r.width, inner}, mix}, nullptr);
  ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + static_cast<int64_t>(past)));
  ASSERT_EQ(out.back(), 7);
}

TEST(TilesKernels, EqualTheRules) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    compare<1>(random);
    compare<3>(random);
  }
}

}  // namespace
}  // namespace penstock::table
