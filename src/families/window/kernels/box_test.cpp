// SPDX-License-Identifier: Apache-2.0
// The kernel of means as ordinary C++, with fibers for threads, gives the bytes of its slow twin.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/box_tiles.h"
#include "families/window/box_twin.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

template <class T> void expect_twins_means(const Window& w, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  std::vector<T> in(n), expected(n), out(n);
  const bool few = random() % 2;
  for (T& x : in)
    x = std::is_integral_v<T> ? static_cast<T>(few ? random() % 3 : random())
                              : static_cast<T>(static_cast<float>(random() % 10000) * 0.01f - 30);
  BoxTiles tiles = box_tiles(w, std::is_integral_v<T>);
  ASSERT_GT(tiles.count, 0);
  ASSERT_LE(tiles.shared_bytes, kBlockBytes);
  tiles.row.in = in.data(), tiles.row.out = out.data();
  whole::launch<BoxRow>({tiles.row}, {tiles.count}, 2, box<T, ImageRule>);
  run_image_rule<BoxTwin>(in.data(), expected.data(),
                          {e, w.width, w.height, w.x, w.y, box_mean_of(w, false).factor, w.border}, nullptr);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
        << name_of(dtype_of<T>) << " border " << w.border << ", element " << i << " of " << e.height << " x " << e.width
        << " x " << e.inner << ", window " << w.height << " x " << w.width << " at " << w.y << ", " << w.x;
}

TEST(BoxKernel, GivesTheTwinsBytes) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, i % 4 ? 12 : 40), between(1, i % 4 ? 20 : 150), between(1, 4)},
             between(1, i % 3 ? 9 : 24),
             between(1, i % 5 ? 9 : 24),
             0,
             0,
             i % 5};
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    if (i % 4 == 0) expect_twins_means<uint8_t>(w, random);
    else if (i % 4 == 1) expect_twins_means<float>(w, random);
    else if (i % 4 == 2) expect_twins_means<int16_t>(w, random);
    else expect_twins_means<Half>(w, random);
  }
}

TEST(BoxKernel, LargeWindowsHaveNoTiles) {
  EXPECT_EQ(box_tiles({{1, 1, 1000, 1000, 3}, 999, 999, 0, 0, 0}, true).count, 0);
  EXPECT_GT(box_tiles({{1, 1, 1000, 1000, 3}, 31, 31, 0, 0, 0}, true).count, 0);
}

}  // namespace
}  // namespace penstock::window
