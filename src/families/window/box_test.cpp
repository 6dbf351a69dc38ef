// SPDX-License-Identifier: Apache-2.0
// The fast means give the bytes of their slow twin.
#include "families/window/box.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace penstock::window::box_test {
namespace {

std::mt19937 random_bits(5);
int64_t between(int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random_bits);
}

template <class T> void draw_elements(std::span<T> to) {
  const int64_t kind = between(0, 3);  // few values make means that lie between two integers
  for (T& x : to) {
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(kind == 0   ? std::numeric_limits<T>::max()
                         : kind == 1 ? std::numeric_limits<T>::max() - between(0, 1)
                         : kind == 2 ? between(0, 3)
                                     : random_bits());
    } else {
      x = static_cast<T>(static_cast<float>(random_bits() % 100000) * 0.01f - 300);
      if (kind == 0 && between(0, 50) == 0) x = static_cast<T>(between(0, 1) ? NAN : INFINITY);
    }
  }
}

template <class T> void expect_twins_bytes(const Window& w) {
  const ImageRule::Extents& e = w.image;
  const Shape shape{e.outer, e.height, e.width, e.inner};
  const size_t n = static_cast<size_t>(shape.volume());
  const std::unique_ptr<T[]> in(new T[n]), expected(new T[n]), out(new T[n]);  // a reader beyond the end is found
  draw_elements(std::span(in.get(), n));
  run_image_rule<BoxTwin>(in.get(), expected.get(),
                          {e, w.width, w.height, w.x, w.y, box_mean_of(w, false).factor, w.border}, nullptr);
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    std::memset(static_cast<void*>(out.get()), 0x55, n * sizeof(T));
    box_rows(static_cast<Target>(t), dtype_of<T>, in.get(), out.get(), w);
    for (size_t i = 0; i < n; ++i) {
      if (out[i] != out[i] && expected[i] != expected[i]) continue;
      ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
          << name_of(dtype_of<T>) << " " << e.outer << " x " << e.height << " x " << e.width << " x " << e.inner
          << ", window " << w.height << " x " << w.width << " at " << w.y << ", " << w.x << ", border " << w.border
          << ", element " << i << ", target " << t << ": " << static_cast<double>(out[i]) << ", not "
          << static_cast<double>(expected[i]);
    }
  }
}

Window draw_window(int64_t most) {
  const auto extent = [] { return between(0, 5) ? between(1, 40) : between(60, 150); };
  Window w{{between(1, 2), 1, extent(), extent(), between(1, 4)}, between(1, most), between(1, most), 0, 0, 0};
  w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
  w.border = static_cast<int>(between(0, 4));
  return w;
}

TEST(Box, GivesTheTwinsBytes) {
  const char* given = std::getenv("PENSTOCK_TEST_COUNT");
  const int count = given ? std::atoi(given) : 16;
  for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i)
    for (const DType t : {DType::uint8, DType::int8, DType::uint16, DType::int16, DType::float16, DType::float32})
      dispatch_boxed(t, [&]<class T>(TypeTag<T>) {
        if (!testing::Test::HasFatalFailure()) expect_twins_bytes<T>(draw_window(i % 2 ? 9 : i % 8 ? 20 : 60));
      });
}

// All areas that are summed in 16 bits, all sums.
TEST(Box, MeansInSixteenBitsAreExact) {
  for (int64_t n = 1; n <= 256; ++n) {
    const BoxMean m = box_mean_of({{1, 1, 1, 1, 1}, n, 1, 0, 0, 0}, true);
    for (int64_t sum = 0; sum <= 255 * n; ++sum) {
      const auto exact = static_cast<uint8_t>(std::nearbyint(static_cast<double>(sum) / static_cast<double>(n)));
      ASSERT_EQ((box_mean<uint8_t>(static_cast<int32_t>(sum), m)), exact) << sum << " / " << n;
      if (m.part == 0) continue;
      ASSERT_EQ((box_mean<uint8_t>(static_cast<uint16_t>(sum), m)), exact) << sum << " / " << n;
    }
  }
}

TEST(Box, MeansInThirtyTwoBitsAreExact) {
  for (int i = 0; i < 300000; ++i) {
    const Window w{{1, 1, 1, 1, 1}, between(1, 2047), between(1, 2047), 0, 0, 0};
    const int64_t n = w.width * w.height;
    const BoxMean m = box_mean_of(w, true);
    const auto check = [&]<class T>(TypeTag<T>, int64_t sum) {
      const auto exact = std::nearbyint(static_cast<double>(sum) / static_cast<double>(n));
      ASSERT_EQ((box_mean<T>(static_cast<int64_t>(sum), m)), exact) << sum << " / " << n;
      if (!box_fits(w, sizeof(T))) return;
      ASSERT_EQ((box_mean<T>(static_cast<int32_t>(sum), m)), exact) << sum << " / " << n;
    };
    const auto near_half = [&](int64_t most) {
      return std::clamp<int64_t>(between(0, most) * n + n / 2 + between(-1, 1), 0, most * n);
    };
    check(TypeTag<uint8_t>{}, near_half(255)), check(TypeTag<uint16_t>{}, near_half(65535));
  }
}

// Strips that are narrower than a row, and sums that 32 bits do not hold.
TEST(Box, GivesTheTwinsBytesOfLongRows) {
  expect_twins_bytes<float>({{1, 1, 7, 12011, 3}, 3, 9, 1, 4, kBorderConstant});
  expect_twins_bytes<uint8_t>({{1, 1, 2, 30001, 1}, 9, 21, 4, 10, kBorderWrap});
  expect_twins_bytes<uint16_t>({{1, 1, 2, 20, 3}, 190, 190, 100, 100, kBorderReflect101});
}

}  // namespace
}  // namespace penstock::window::box_test
