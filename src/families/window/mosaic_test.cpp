// SPDX-License-Identifier: Apache-2.0
// The rows of mosaics give the bytes of their slow twin.
#include "families/window/mosaic.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "families/window/mosaic_twin.h"

namespace penstock::window {
namespace {

template <class T> void expect_twins_bytes(const Mosaic& m, std::mt19937& random) {
  const size_t n = static_cast<size_t>(m.images * m.height * m.width), channels = m.algorithm == Mosaic::gray ? 1 : 3;
  const std::unique_ptr<T[]> in(new T[n]), expected(new T[n * channels]), out(new T[n * channels]);
  const bool few = random() % 2 == 0;  // values whose differences are equal often, and the ends of the type
  for (size_t i = 0; i < n; ++i) in[i] = static_cast<T>(few ? random() % 4 - 2 : random());
  mosaic_twin(m, in.get(), expected.get());
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    std::memset(out.get(), 0x55, n * channels * sizeof(T));
    mosaic_rows(static_cast<Target>(t), dtype_of<T>, m, in.get(), out.get());
    for (size_t i = 0; i < n * channels; ++i)
      ASSERT_EQ(out[i], expected[i]) << m.images << " x " << m.height << " x " << m.width << ", element " << i
                                     << ", algorithm " << m.algorithm << ", target " << t;
  }
}

TEST(Mosaic, RowsGiveTheTwinsBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 60 && !testing::Test::HasFatalFailure(); ++round) {
    const auto even = [&](int64_t most) { return 2 + 2 * static_cast<int64_t>(random() % (most / 2)); };
    const Mosaic m{1 + static_cast<int64_t>(random() % 2), even(12),
                   even(round % 10 == 0 ? 1800 : 160),     static_cast<int32_t>(random() % 2),
                   static_cast<int32_t>(random() % 2),     round % 3};
    expect_twins_bytes<uint8_t>(m, random);
    expect_twins_bytes<uint16_t>(m, random);
  }
}

}  // namespace
}  // namespace penstock::window
