// SPDX-License-Identifier: Apache-2.0
// The kernel of folds as ordinary C++, with fibers for threads, gives the bytes of its slow twin.
#include "emulated_gpu/launch_rows.h"
//
#include "families/window/fold_tiles.h"
#include "families/window/twin.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock::window {
namespace {

struct Largest : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return least_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) { return a < b ? b : a; });
};

template <class T> void expect_twins_bytes(const Window& w, std::mt19937& random) {
  const ImageRule::Extents& e = w.image;
  const size_t n = static_cast<size_t>(e.outer * e.height * e.width * e.inner);
  std::vector<T> in(n), expected(n), out(n);
  for (T& x : in) {
    const int kind = static_cast<int>(random() % 9);
    const float f = kind == 0 ? 0.0f : kind == 1 ? -0.0f : kind == 2 ? NAN : static_cast<float>(random() % 100) - 70;
    x = kHasNan<T> ? static_cast<T>(f) : static_cast<T>(random());
  }
  FoldTiles tiles = fold_tiles(w, sizeof(LaneOf<T>));
  ASSERT_GT(tiles.count, 0);
  ASSERT_LE(tiles.shared_bytes, kBlockBytes);
  tiles.row.in = in.data(), tiles.row.out = out.data();
  whole::launch<FoldRow>({tiles.row}, {tiles.count}, 2, fold<T, Largest>);
  run_image_rule<FoldTwin<Largest>>(in.data(), expected.data(), {e, w.width, w.height, w.x, w.y, w.border}, nullptr);
  for (size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
        << name_of(dtype_of<T>) << " border " << w.border << ", element " << i << " of " << e.height << " x " << e.width
        << " x " << e.inner << ", window " << w.height << " x " << w.width << " at " << w.y << ", " << w.x;
}

TEST(FoldKernel, GivesTheTwinsBytes) {
  std::mt19937 random(3);
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) {
    Window w{{between(1, 2), 1, between(1, i % 4 ? 12 : 40), between(1, i % 4 ? 20 : 150), between(1, 4)},
             i % 3 ? between(1, 9) : 3,
             i % 3 ? between(1, 30) : 3,
             0,
             0,
             i % 5};
    w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
    if (i % 2) expect_twins_bytes<uint8_t>(w, random);
    else if (i % 4) expect_twins_bytes<float>(w, random);
    else expect_twins_bytes<Half>(w, random);
  }
}

TEST(FoldKernel, LargeWindowsHaveNoTiles) {
  EXPECT_EQ(fold_tiles({{1, 1, 1000, 1000, 3}, 999, 999, 0, 0, 0}, 1).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 1000, 1000, 3}, 31, 31, 0, 0, 0}, 4).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 1000, 1000, 3}, 31, 31, 0, 0, 0}, 1).count, 0);
  EXPECT_GT(fold_tiles({{1, 1, 5, 7, 3}, 999, 999, 0, 0, 0}, 4).count, 0);  // no more than the image is seen
}

}  // namespace
}  // namespace penstock::window
