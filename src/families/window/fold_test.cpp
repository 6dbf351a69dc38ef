// SPDX-License-Identifier: Apache-2.0
// The fast fold gives the bytes of its slow twin.
#include "families/window/fold.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace penstock::window {
namespace {

struct Largest : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return least_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) { return a < b ? b : a; });
};
struct Smallest : ImageRule {
  PENSTOCK_PIXEL(
      template <class T> PENSTOCK_HD static T identity() {
        return greatest_value<T>();
      } template <class T> PENSTOCK_HD static T combine(T a, T b) { return b < a ? b : a; });
};

std::mt19937 random_bits(7);
int64_t between(int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random_bits);
}

// Few values, so that equal ones of other bits meet: zeros of both signs, NaN with their payloads, infinities.
template <class T> void draw_elements(std::span<T> to) {
  const bool wide = between(0, 1), nan = between(0, 2) == 0;
  for (T& x : to) {
    if constexpr (kHasNan<T>) {
      const int64_t kind = between(0, wide ? 200 : 9);
      float f = static_cast<float>(between(-300, 300)) / 7;
      if (kind < 4) f = kind % 2 ? 0.0f : -0.0f;
      if (kind == 4) f = between(0, 1) ? INFINITY : -INFINITY;
      x = static_cast<T>(f);
      if (kind == 5 && nan) x = static_cast<T>(std::copysign(NAN, between(0, 1) ? 1.0f : -1.0f));
    } else if constexpr (std::is_same_v<T, bool>) {
      x = between(0, 5) == 0;
    } else {
      x = static_cast<T>(static_cast<uint64_t>(random_bits()) << 32 | random_bits());
      if (!wide) x = static_cast<T>(x % 5);
    }
  }
}

Window draw_window() {
  const auto extent = [] {
    const int64_t kind = between(0, 9);
    return kind == 0 ? 1 : kind < 8 ? between(1, 40) : between(60, 200);
  };
  Window w{{between(1, 2), 1, extent(), extent(), between(0, 1) ? 1 : between(1, 5)}, 1, 1, 0, 0, 0};
  const auto size = [](int64_t n) {
    const int64_t kind = between(0, 9);
    return kind < 3 ? 3 : kind < 8 ? between(1, 12) : kind == 8 ? between(1, 3 * n) : between(1, 200);
  };
  w.width = size(w.image.width), w.height = size(w.image.height);
  w.x = between(0, w.width - 1), w.y = between(0, w.height - 1);
  w.border = static_cast<int>(between(0, 4));
  return w;
}

std::string text_of(const Window& w) {
  return fmt::format("{} x {} x {} x {}, window {} x {} at {}, {}, border {}", w.image.outer, w.image.height,
                     w.image.width, w.image.inner, w.height, w.width, w.y, w.x, w.border);
}

template <class Rule, class T> void expect_twins_bytes(const Window& w) {
  const ImageRule::Extents& e = w.image;
  const Shape shape{e.outer, e.height, e.width, e.inner};
  const size_t n = static_cast<size_t>(shape.volume());
  const std::unique_ptr<T[]> in(new T[n]), expected(new T[n]), out(new T[n]);  // a reader beyond the end is found
  draw_elements(std::span(in.get(), n));
  run_image_rule<FoldTwin<Rule>>(in.get(), expected.get(), {e, w.width, w.height, w.x, w.y, w.border}, nullptr);
  const auto view = [&](T* p) { return View{p, dtype_of<T>, {}, shape, dense_strides(shape)}; };
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    std::memset(static_cast<void*>(out.get()), 0x55, n * sizeof(T));
    fold_on_host<Rule>(view(in.get()), view(out.get()), w, static_cast<Target>(t));
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
          << name_of(dtype_of<T>) << " " << text_of(w) << ", element " << i << ", target " << t << ": "
          << static_cast<double>(out[i]) << ", not " << static_cast<double>(expected[i]);
  }
}

TEST(Fold, GivesTheTwinsBytes) {
  const char* given = std::getenv("PENSTOCK_TEST_COUNT");
  const int count = given ? std::atoi(given) : 25;
  for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i)
    for (int t = 0; t <= static_cast<int>(DType::bool_) && !testing::Test::HasFatalFailure(); ++t)
      dispatch(static_cast<DType>(t), [&]<class T>(TypeTag<T>) {
        if (between(0, 1)) expect_twins_bytes<Largest, T>(draw_window());
        else expect_twins_bytes<Smallest, T>(draw_window());
      });
}

// Strips that are narrower than a row, and blocks of rows that a second-level cache does not hold at once.
TEST(Fold, GivesTheTwinsBytesOfLongRows) {
  for (const int border : {kBorderConstant, kBorderReflect101, kBorderWrap})
    for (const int64_t height : {1, 3, 4}) {
      expect_twins_bytes<Largest, float>({{1, 1, 7, 12011, 3}, 3, height, 1, 0, border});
      expect_twins_bytes<Smallest, uint16_t>({{1, 1, 4, 30001, 1}, 40, height, 39, height / 2, border});
    }
}

TEST(Fold, AWindowLargerThanAllIsAsLargeAsWhatItSees) {
  for (int border = 0; border <= 4; ++border) {
    constexpr int64_t kHuge = int64_t{65535} * 65535;
    for (const int64_t n : {1, 2, 7}) {
      const Reach r = seen(n, kHuge, kHuge / 2, border);
      EXPECT_LE(r.count, 2 * n) << border;
      EXPECT_TRUE(r.before >= 0 && r.before < r.count) << border;
    }
    const ImageRule::Extents image{1, 1, 6, 5, 2};
    for (const int64_t at : {0, 1, 40, 97, 98})
      expect_twins_bytes<Largest, float>({image, 99, 99, at, 98 - at, border});
  }
}

}  // namespace
}  // namespace penstock::window
