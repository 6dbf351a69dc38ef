// SPDX-License-Identifier: Apache-2.0
// Sums on every target give the bytes of the order that reduction.h describes.
#include "numerics/reduction_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace penstock {
namespace {

template <class T> std::vector<T> draw(int64_t n, std::mt19937& random) {
  std::vector<T> out(static_cast<size_t>(n));
  for (T& v : out) {
    if constexpr (std::is_integral_v<T>) v = static_cast<T>(static_cast<uint64_t>(random()) << 32 | random());
    else v = static_cast<T>((static_cast<double>(random()) - 2e9) * std::exp2(static_cast<double>(random() % 40) - 40));
  }
  return out;
}

template <class T> double in_order(const std::vector<T>& v, double about, bool squares) {
  double level[kPartialChunks] = {};
  for (size_t first = 0, chunk = 0; first < v.size(); first += kReductionChunk, ++chunk) {
    double partial[kPartialSums] = {};
    for (size_t j = first; j < std::min<size_t>(v.size(), first + kReductionChunk); ++j) {
      const double e = static_cast<double>(v[j]) - about;
      partial[(j - first) % kPartialSums] += squares ? e * e : static_cast<double>(v[j]);
    }
    for (int n = kPartialSums / 2; n > 0; n /= 2)
      for (int i = 0; i < n; ++i) partial[i] += partial[i + n];
    level[chunk % kPartialChunks] += partial[0];
  }
  for (int n = kPartialChunks / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) level[i] += level[i + n];
  return level[0];
}

template <class T> void compare(const Shape& shape, const std::vector<int>& axes, std::mt19937& random) {
  std::vector<T> in = draw<T>(shape.volume(), random);
  if (!std::is_integral_v<T> && random() % 2)
    for (int k = 0; k < 3; ++k) in[random() % in.size()] = static_cast<T>(k ? -0.0 : __builtin_nan(""));
  const ReductionPlan plan(shape, axes);
  const View view{in.data(), dtype_of<T>, {}, shape, dense_strides(shape)};
  const Shape to = plan.result_strides();
  std::vector<std::vector<T>> elements(static_cast<size_t>(plan.results));
  for (int64_t i = 0; i < shape.volume(); ++i) {
    int64_t r = 0, rest = i;
    for (int d = shape.size() - 1; d >= 0; rest /= shape[d--]) r += rest % shape[d] * to[d];
    elements[static_cast<size_t>(r)].push_back(in[static_cast<size_t>(i)]);
  }
  std::vector<double> about = draw<double>(plan.results, random);
  if (random() % 2) std::fill(about.begin(), about.end(), 0.0);  // squares of bytes have loops of their own
  const auto n = static_cast<size_t>(plan.results);
  for (int t = 0; t <= static_cast<int>(best_target()); ++t)
    for (const Fold fold : {Fold::numbers, Fold::squares, Fold::integers, Fold::least, Fold::greatest}) {
      if (fold == Fold::integers && !std::is_integral_v<T>) continue;
      const std::string what = fmt::format("{} of {}, axes {}, fold {}, target {}", shape.text(), name_of(dtype_of<T>),
                                           fmt::join(axes, " "), static_cast<int>(fold), t);
      std::vector<std::byte> totals(n * 8);
      if (!fold_rows(static_cast<Target>(t), view, plan, fold, about.data(), totals.data())) continue;
      for (size_t r = 0; r < n; ++r) {
        if (fold == Fold::numbers || fold == Fold::squares) {
          double got;
          std::memcpy(&got, &totals[r * 8], 8);
          const double expected = in_order(elements[r], about[r], fold == Fold::squares);
          if (got != got && expected != expected) continue;
          ASSERT_EQ(std::memcmp(&got, &expected, 8), 0) << what << ": " << got << ", not " << expected;
        } else if (fold == Fold::integers) {
          uint64_t got, expected = 0;
          std::memcpy(&got, &totals[r * 8], 8);
          for (const T v : elements[r]) expected += static_cast<uint64_t>(static_cast<int64_t>(v));
          ASSERT_EQ(got, expected) << what;
        } else {
          T got, expected = fold == Fold::greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
          if (std::numeric_limits<T>::has_infinity)
            expected = static_cast<T>(fold == Fold::greatest ? -INFINITY : INFINITY);
          std::memcpy(&got, &totals[r * sizeof(T)], sizeof(T));
          for (const T v : elements[r])
            if (fold == Fold::greatest ? v > expected : v < expected) expected = v;
          expected = static_cast<T>(expected + T(0));
          ASSERT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0) << what;
        }
      }
    }
}

template <class T> void compare_forms(std::mt19937& random) {
  for (const int64_t width : {1, 2, 3, 4, 16, 31, 150}) {
    const auto some = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    compare<T>({some(9000), width}, {0}, random);
    compare<T>({2, some(300), width}, {1}, random);
    compare<T>({2, 5, some(40), width}, {1, 2}, random);
    compare<T>({3, some(700)}, {1}, random);
    compare<T>({some(70), some(90)}, {0, 1}, random);
  }
  compare<T>({140000}, {0}, random);
  compare<T>({140000, 17}, {0}, random);
  compare<T>({70000, 3}, {0}, random);
}

TEST(Reduction, SquaresOfManyBytesAreExact) {
  std::mt19937 random(11);
  for (const int64_t n : {7, 63, 64, 65, 262143, 262144, 13000001}) {  // the last: more than parts of 32 bits hold
    std::vector<uint8_t> in = draw<uint8_t>(n, random);
    if (n == 13000001) std::fill(in.begin(), in.end(), uint8_t{255});
    uint64_t expected = 0;
    for (const uint8_t v : in) expected += uint64_t{v} * v;
    const View view{in.data(), DType::uint8, {}, Shape{n}, dense_strides(Shape{n})};
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      const double zero = 0;
      double got = -1;
      const std::vector<int> axes{0};
      ASSERT_TRUE(fold_rows(static_cast<Target>(t), view, ReductionPlan(view.shape, axes), Fold::squares, &zero, &got));
      ASSERT_EQ(got, static_cast<double>(expected)) << n << " bytes, target " << t;
    }
    const Shape pixels{n / 3, 3};
    double colors[3] = {};
    for (int64_t i = 0; i < n / 3 * 3; ++i) colors[i % 3] += in[static_cast<size_t>(i)] * in[static_cast<size_t>(i)];
    const View three{in.data(), DType::uint8, {}, pixels, dense_strides(pixels)};
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      const double zeros[3] = {};
      double got[3] = {-1, -1, -1};
      const std::vector<int> axes{0};
      ASSERT_TRUE(fold_rows(static_cast<Target>(t), three, ReductionPlan(pixels, axes), Fold::squares, zeros, got));
      for (int c = 0; c < 3; ++c) ASSERT_EQ(got[c], colors[c]) << n / 3 << " pixels, target " << t;
    }
  }
}

TEST(Reduction, RowsGiveTheBytesOfTheOrder) {
  std::mt19937 random(9);
  compare_forms<uint8_t>(random), compare_forms<int8_t>(random);
  compare_forms<uint16_t>(random), compare_forms<int16_t>(random);
  compare_forms<uint32_t>(random), compare_forms<int32_t>(random);
  compare_forms<float>(random), compare_forms<double>(random);
}

// Sums that are not exact: more elements than float64 has bits for.
TEST(Reduction, LargeIntegersGiveTheBytesOfTheOrder) {
  std::mt19937 random(10);
  compare<uint32_t>({(1 << 21) + 5}, {0}, random);
  compare<int32_t>({1 << 21, 3}, {0}, random);
}

}  // namespace
}  // namespace penstock
