// SPDX-License-Identifier: Apache-2.0
// The kernel of mosaics, as ordinary C++, gives the bytes of its slow twin, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include <random>

#include "families/window/mosaic_twin.h"

namespace penstock::window {
namespace {

template <class T, int algorithm> void compare(int64_t widest, std::mt19937& random) {
  const auto even = [&](int64_t most) { return 2 + 2 * static_cast<int64_t>(random() % (most / 2)); };
  std::vector<MosaicRow> rows;
  std::vector<int64_t> work;
  std::vector<std::vector<T>> in, out;
  const size_t channels = algorithm == Mosaic::gray ? 1 : 3;
  for (int k = 0; k < 3; ++k) {
    const Mosaic m{1 + static_cast<int64_t>(random() % 2),
                   even(12),
                   k == 0 ? 8 * static_cast<int64_t>(1 + random() % 20) : even(widest),
                   static_cast<int32_t>(random() % 2),
                   static_cast<int32_t>(random() % 2),
                   algorithm};
    const auto n = static_cast<size_t>(m.images * m.height * m.width);
    const bool few = random() % 2 == 0;
    in.emplace_back(n + 1), out.emplace_back(n * channels + 2, T(7));
    for (T& v : in.back()) v = static_cast<T>(few ? random() % 4 - 2 : random());
    const size_t shift = random() % 2;
    rows.push_back({in.back().data() + shift, out.back().data() + shift, m});
    work.push_back(mosaic_units<T>(m));
  }
  whole::launch<MosaicRow>(rows, work, whole::kThreads, mosaic<T, algorithm>);
  for (size_t k = 0; k < rows.size(); ++k) {
    const Mosaic& m = rows[k].mosaic;
    std::vector<T> expected(static_cast<size_t>(m.images * m.height * m.width) * channels);
    mosaic_twin(m, static_cast<const T*>(rows[k].in), expected.data());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(static_cast<const T*>(rows[k].out)[i], expected[i])
          << m.images << " x " << m.height << " x " << m.width << ", element " << i << ", algorithm " << algorithm;
    ASSERT_EQ(out[k].back(), T(7));
  }
}

TEST(MosaicKernel, GivesTheTwinsBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 20 && !testing::Test::HasFatalFailure(); ++round) {
    const int64_t widest = round % 4 == 0 ? 600 : 40;
    compare<uint8_t, Mosaic::bilinear>(widest, random), compare<uint16_t, Mosaic::bilinear>(widest, random);
    compare<uint8_t, Mosaic::by_edges>(widest, random), compare<uint16_t, Mosaic::by_edges>(widest, random);
    compare<uint8_t, Mosaic::gray>(widest, random), compare<uint16_t, Mosaic::gray>(widest, random);
  }
}

}  // namespace
}  // namespace penstock::window
