// SPDX-License-Identifier: Apache-2.0
// The fast medians give the bytes of their slow twin.
#include "families/window/median.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace penstock::window::median_test {
namespace {

std::mt19937 random_bits(11);
int64_t between(int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random_bits);
}

// All bits: NaN with payloads, both zeros; or few values, which meet often; or numbers, and -0 at one place.
template <class T> void draw_elements(std::span<T> to) {
  const int64_t kind = between(0, 3);
  const bool few = kind == 0, numbers = kind == 1;
  const T some[3] = {static_cast<T>(between(0, 1)), static_cast<T>(-1.0f), static_cast<T>(1)};
  for (T& x : to) {
    uint64_t bits = static_cast<uint64_t>(random_bits()) << 32 | random_bits();
    if constexpr (std::is_same_v<T, bool>) bits &= 1;
    std::memcpy(static_cast<void*>(&x), &bits, sizeof x);
    if (few) x = some[bits % 3];
    if (numbers) x = static_cast<T>(static_cast<float>(bits % 999));
  }
  if (numbers && between(0, 1))
    to[static_cast<size_t>(between(0, static_cast<int64_t>(to.size()) - 1))] = static_cast<T>(-0.0f);
}

template <class T> void expect_twins_bytes(const MedianTwin::Coef& c) {
  const ImageRule::Extents& e = c.out;
  const Shape shape{e.outer, e.height, e.width, e.inner};
  const size_t n = static_cast<size_t>(shape.volume());
  const std::unique_ptr<T[]> in(new T[n]), expected(new T[n]), out(new T[n]);  // a reader beyond the end is found
  draw_elements(std::span(in.get(), n));
  run_image_rule<MedianTwin>(in.get(), expected.get(), c, nullptr);
  const auto view = [&](T* p) { return View{p, dtype_of<T>, {}, shape, dense_strides(shape)}; };
  for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
    std::memset(static_cast<void*>(out.get()), 0x55, n * sizeof(T));
    median_on_host(view(in.get()), view(out.get()), c, static_cast<Target>(t));
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(std::memcmp(&out[i], &expected[i], sizeof(T)), 0)
          << name_of(dtype_of<T>) << " " << e.outer << " x " << e.height << " x " << e.width << " x " << e.inner
          << ", window " << c.height << " x " << c.width << ", element " << i << ", target " << t;
  }
}

void expect_twins_bytes(DType dtype, const MedianTwin::Coef& c) {
  dispatch(dtype, [&]<class T>(TypeTag<T>) { expect_twins_bytes<T>(c); });
}

ImageRule::Extents draw_image(int64_t widest) {
  return {between(1, 2), 1, between(1, 40), between(1, widest), between(0, 2) ? between(1, 4) : between(1, 40)};
}

TEST(Median, NetworksGiveTheTwinsBytes) {
  const char* given = std::getenv("PENSTOCK_TEST_COUNT");
  for (int i = 0; i < (given ? std::atoi(given) : 6) && !testing::Test::HasFatalFailure(); ++i)
    for (int t = 0; t <= static_cast<int>(DType::bool_) && !testing::Test::HasFatalFailure(); ++t)
      for (const int64_t size : {3, 5})
        expect_twins_bytes(static_cast<DType>(t), {draw_image(size == 3 || i == 0 ? 300 : 40), size, size});
}

TEST(Median, CountsGiveTheTwinsBytes) {
  const auto odd = [](int64_t most) { return 2 * between(0, most / 2) + 1; };
  for (int i = 0; i < 12 && !testing::Test::HasFatalFailure(); ++i)
    for (const DType dtype : {DType::uint8, DType::int8, DType::bool_})
      expect_twins_bytes(dtype, {draw_image(i < 2 ? 300 : 40), odd(i < 6 ? 9 : 61), odd(i < 6 ? 9 : 61)});
  expect_twins_bytes(DType::uint8, {{1, 1, 3, 5, 1}, 301, 255});  // more than 65,535 elements
}

TEST(Median, NetworksGiveTheTwinsBytesOfLongRows) {
  for (const DType dtype : {DType::uint8, DType::uint16, DType::float32, DType::float32}) {
    expect_twins_bytes(dtype, {{1, 1, 35, 1811, 3}, 3, 3});
    expect_twins_bytes(dtype, {{1, 1, 3, 901, 3}, 5, 5});
  }
}

}  // namespace
}  // namespace penstock::window::median_test
