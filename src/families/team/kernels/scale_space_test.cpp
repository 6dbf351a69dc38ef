// SPDX-License-Identifier: Apache-2.0
// Blurs of planes as ordinary C++, with fibers for threads, beside sums of single numbers in the same order.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>

#include "families/team/kernels/scale_space.h"

namespace penstock::whole {
namespace {

using Numbers = std::vector<float>;

float blurred(const Numbers& in, const Numbers& taps, int32_t at, int32_t step, int32_t place, int32_t n) {
  float sum = in[static_cast<size_t>(at + place * step)] * taps[0];
  for (int32_t k = 1; k < static_cast<int32_t>(taps.size()); ++k) {
    const auto there = [&](int32_t p) { return in[static_cast<size_t>(at + mirrored_at(p, n) * step)]; };
    sum += (there(place - k) + there(place + k)) * taps[static_cast<size_t>(k)];
  }
  return sum;
}
Numbers expected(const Numbers& in, const Numbers& taps, int32_t height, int32_t width) {
  Numbers down(in.size()), out(in.size());
  for (int32_t i = 0; i < height * width; ++i)
    down[static_cast<size_t>(i)] = blurred(in, taps, i % width, width, i / width, height);
  for (int32_t i = 0; i < height * width; ++i)
    out[static_cast<size_t>(i)] = blurred(down, taps, i / width * width, 1, i % width, width);
  return out;
}

enum Pass { kTiles, kDown, kParts };
template <Pass pass> struct Blur {
  using Coef = PlaneCoef;
  static void run(const Arrays& a, const Coef& c, const char*, const Team& team, Refusal&) {
    const auto *const from = a.from<float>(0), *const taps = a.from<float>(1);
    if constexpr (pass == kTiles) blur_tiles(from, a.to<float>(0), taps, c, team);
    else if constexpr (pass == kDown) blur_down(from, a.to<float>(0), taps, c, team);
    else blur_parts(from, a.to<float>(0), taps, c, team);
  }
};
template <Pass pass> Numbers made(const Numbers& in, const Numbers& taps, const PlaneCoef& c, int64_t units,
                                  int64_t each) {
  Numbers out(in.size());
  TeamRow<PlaneCoef> row{};
  row.arrays.in[0] = in.data(), row.arrays.in[1] = taps.data(), row.arrays.out[0] = out.data(), row.coef = c;
  launch<TeamRow<PlaneCoef>>({row}, {units}, each, run_team<Blur<pass>>);
  return out;
}

TEST(ScaleSpace, BlursInTheOrderOfSingleSums) {
  std::mt19937 random(3);
  for (const auto& [height, width, radius] :
       {std::array{1, 1, 2}, {3, 5, 1}, {40, 300, 5}, {17, 250, 13}, {9, 520, 64}, {70, 33, 40}}) {
    Numbers in(static_cast<size_t>(height * width)), taps(static_cast<size_t>(radius + 1));
    for (float& v : in) v = static_cast<float>(random() % 1000) / 7;
    for (float& v : taps) v = static_cast<float>(random() % 1000) / 9999;
    const Numbers want = expected(in, taps, height, width);
    const PlaneCoef c{height, width, radius};
    const BlurTiles tiles(c);
    EXPECT_EQ(made<kTiles>(in, taps, c, int64_t{tiles.across} * tiles.down, 3), want) << width << ' ' << radius;
    const Numbers down = made<kDown>(in, taps, c, int64_t{tiles.down} * width, 1000);
    const int64_t parts = (width + kSumsTogether - 1) / kSumsTogether;
    EXPECT_EQ(made<kParts>(down, taps, c, parts * height, 1000), want) << width << ' ' << radius;
  }
}

}  // namespace
}  // namespace penstock::whole
