// SPDX-License-Identifier: Apache-2.0
// The loops of every processor target give the twin's elements, and their numbers have the distributions that they say.
#include "families/field/field.h"

#include <array>
#include <numbers>

#include "families/field/test_fields.h"

namespace penstock::field {
namespace {

const std::vector<Target>& targets() {
  static const auto* all = new std::vector<Target>([] {
    std::vector<Target> found;
    for (const Target t : {Target::scalar, Target::avx2, Target::avx512})
      if (t <= best_target()) found.push_back(t);
    return found;
  }());
  return *all;
}

TEST(Field, BlocksAreThoseOfTheStream) {
  std::mt19937 random(1);
  for (int k = 0; k < 1000; ++k) {
    const RandomStream stream = random_stream(random);
    const uint64_t block = uint64_t{random()} << (random() % 33);
    const PhiloxBlock expected = stream.block(block);
    const PhiloxBlock got = Blocks(stream, static_cast<uint32_t>(block >> 32))(static_cast<uint32_t>(block));
    for (int w = 0; w < 4; ++w) ASSERT_EQ(expected.word[w], got.word[w]);
  }
}

TEST(Field, TilesHaveTheWordsOfTheirElements) {
  std::mt19937 random(2);
  for (const int64_t first : {int64_t{0}, int64_t{kTile} * 7, (int64_t{1} << 34) - kTile, int64_t{1} << 34})
    for (const Target target : targets()) {
      const RandomStream stream = random_stream(random);
      Tile<uint32_t> words;
      tile_words(target, stream, first, words);
      for (int i = 0; i < kTile; ++i)
        ASSERT_EQ(words.of[i], word_at(stream, static_cast<uint64_t>(first + i))) << static_cast<int>(target);
    }
}

template <class T> void compare(std::mt19937& random) {
  const size_t n = 1 + random() % 1500, shift = random() % 3;
  const Memory<T> in = random_elements<T>(random, n);
  const RandomStream stream = random_stream(random);
  const SumRule::Coef sum{static_cast<float>(random() % 9), static_cast<float>(random() % 90)};
  const CountRule::Coef count{std::array{0.5f, 20.0f, 3000.0f}[random() % 3]};
  const auto each = [&](const auto& run, const auto& expected) {
    for (const Target target : targets()) {
      const Memory<T> out(n + shift + 1);
      run(target, Elements{dtype_of<T>, in.data(), out.data() + shift, static_cast<int64_t>(n)});
      expect_each<T>(out, shift, n, fmt::format("{} target {}", name_of(dtype_of<T>), static_cast<int>(target)),
                     expected);
      ASSERT_TRUE(same<T>(out.back(), T(1)));
    }
  };
  each([&](Target t,
           const Elements& e) { add_normals(t, e, stream, &sum, PENSTOCK_FOR_TARGET(t, &rules, noisy<SumRule>)); },
       [&](size_t i) { return with_normal<T, SumRule>(in[i], stream, i, sum); });
  each(
      [&](Target t, const Elements& e) {
        add_counts(t, e, stream, &count, PENSTOCK_FOR_TARGET(t, &rules, mean<CountRule>),
                   PENSTOCK_FOR_TARGET(t, &rules, noisy<CountRule>));
      },
      [&](size_t i) { return with_count<T, CountRule>(in[i], word_at(stream, i), stream, i, count); });
}
TEST(Field, EveryTargetEqualsTheTwin) {
  std::mt19937 random(3);
  for (int k = 0; k < 12 && !HasFatalFailure(); ++k) {
    compare<uint8_t>(random), compare<float>(random), compare<bool>(random), compare<int8_t>(random);
    compare<Half>(random), compare<uint16_t>(random), compare<int16_t>(random);
  }
}

template <class T> void compare_replaced(std::mt19937& random) {
  Positions p{1 + static_cast<int64_t>(random() % 1500), 1 + static_cast<int64_t>(random() % 4), 1};
  if (random() % 2)
    p.inner = 1 + static_cast<int64_t>(random() % 700), p.count *= p.inner % 3 + 1, p.count -= p.count % p.inner;
  if (p.count == 0) p.count = p.inner;
  const size_t n = static_cast<size_t>(p.count * p.channels);
  const Memory<T> in = random_elements<T>(random, n);
  const RandomStream stream = random_stream(random);
  const uint32_t last = std::array{0u, 0x10000000u, 0x80000000u, 0xFFFFFFFFu}[random() % 4];
  const TwoValuesRule::Coef coef{-3, 1000};
  const Memory<T> expected(n);
  for (int64_t k = 0; k < p.count; ++k)
    replace_position<T, TwoValuesRule>(in.data(), expected.data(), p, k, word_at(stream, static_cast<uint64_t>(k)),
                                       last, coef);
  for (const Target target : targets()) {
    const Memory<T> out(n + 1);
    for (int64_t first = 0; first < p.count; first += kTile)
      replace_tile<TwoValuesRule>(target, in.data(), out.data(), p, first, std::min(first + kTile, p.count), last, coef,
                                  stream);
    expect_each<T>(out, 0, n, fmt::format("target {}", static_cast<int>(target)),
                   [&](size_t i) { return expected[i]; });
    ASSERT_TRUE(same<T>(out.back(), T(1)));
  }
}
TEST(Field, ReplacementEqualsTheTwin) {
  std::mt19937 random(4);
  for (int k = 0; k < 60 && !HasFatalFailure(); ++k)
    compare_replaced<uint8_t>(random), compare_replaced<float>(random), compare_replaced<int64_t>(random);
}

TEST(Field, AProbabilityIsAWordAsNearAsCanBe) {
  EXPECT_FALSE(last_word(0));
  EXPECT_FALSE(last_word(1e-10));
  EXPECT_EQ(last_word(0x1p-32), 0u);
  EXPECT_EQ(last_word(0.25), 0x3FFFFFFFu);
  EXPECT_EQ(last_word(1), 0xFFFFFFFFu);
}

// ---- Distributions.

double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(Field, NormalNumbersAreTheTransformOfTheirWords) {
  std::mt19937 random(5);
  double worst = 0;
  const auto check = [&](uint32_t radius, uint32_t turn) {
    float first, second;
    normal_pair(radius, turn, first, second);
    const long double u = (radius + 0.5L) * 0x1p-32L,
                      angle = static_cast<int32_t>(turn) * (0x1p-32L * std::numbers::pi_v<long double>);
    const long double r = std::sqrt(-2 * std::log(u)) * (turn & 1 ? -1 : 1);
    for (const long double difference : {first - r * std::cos(angle), second - r * std::sin(angle)})
      worst = std::max(worst, static_cast<double>(std::abs(difference)));
  };
  for (int k = 0; k < 1000000; ++k)
    check(static_cast<uint32_t>(random()) >> (random() % 32), static_cast<uint32_t>(random()));
  for (int k = 0; k < 100000; ++k)
    check(~(static_cast<uint32_t>(random()) >> (random() % 32)), static_cast<uint32_t>(random()));
  for (const uint32_t w : {0u, 1u, 0x7FFFFFFFu, 0x80000000u, 0x80000001u, 0xFFFFFFFFu, 0xFFFFFFFEu})
    for (const uint32_t turn : {0u, 1u, 0x80000000u, 0x7FFFFFFFu, 0xC0000000u, 0xFFFFFFFFu}) check(w, turn);
  EXPECT_LT(worst, 1.5e-6);
  EXPECT_NEAR(radius_of(0), 6.7638, 1e-4);  // the largest
}

std::vector<float> normals(uint64_t sample, int64_t n) {
  std::vector<float> all(static_cast<size_t>(n));
  Tile<uint32_t> words;
  Tile<float> numbers;
  for (int64_t first = 0; first < n; first += kTile) {
    tile_words(best_target(), {11, 12, sample}, first, words);
    tile_normals(best_target(), words, numbers);
    std::copy_n(numbers.of, kTile, all.begin() + first);
  }
  return all;
}

TEST(Field, NormalNumbersAreNormal) {
  constexpr int64_t kCount = int64_t{kTile} << 13;  // 4 million
  std::vector<float> z = normals(3, kCount);
  double moments[5] = {};
  int64_t beyond[7] = {};
  for (const double v : z) {
    for (double power = v, k = 1; k < 5; power *= v, ++k) moments[static_cast<size_t>(k)] += power / kCount;
    for (int s = 1; s < 7; ++s) beyond[s] += std::abs(v) > s;
  }
  const double error = 1 / std::sqrt(double{kCount});
  EXPECT_LT(std::abs(moments[1]), 4 * error);
  EXPECT_LT(std::abs(moments[2] - 1), 4 * std::sqrt(2.0) * error);
  EXPECT_LT(std::abs(moments[3]), 4 * std::sqrt(15.0) * error);
  EXPECT_LT(std::abs(moments[4] - 3), 4 * std::sqrt(96.0) * error);
  for (int s = 1; s < 7; ++s) {
    const double expected = 2 * normal_below(-s) * kCount;
    EXPECT_LE(std::abs(static_cast<double>(beyond[s]) - expected), 4 * std::sqrt(expected) + 1) << s;
  }
  std::ranges::sort(z);
  double distance = 0;  // of Kolmogorov and Smirnov
  for (int64_t i = 0; i < kCount; ++i) {
    const double below = normal_below(z[static_cast<size_t>(i)]) * kCount;
    distance = std::max({distance, below - static_cast<double>(i), static_cast<double>(i + 1) - below});
  }
  EXPECT_LT(distance * error, 1.63);  // exceeded once in 100 seeds
}

// Elements of one group, neighbors, and the same element of two samples: their parts of 16 equal ones are independent.
TEST(Field, NormalNumbersAreIndependent) {
  constexpr int64_t kCount = int64_t{kTile} << 11;
  const std::vector<float> a = normals(3, kCount + kTile), b = normals(4, kCount + kTile);
  const auto part = [](float v) { return static_cast<int>(std::min(normal_below(v) * 16, 15.0)); };
  const auto check = [&](const std::vector<float>& with, int64_t distance, const char* what) {
    std::vector<double> counts(256);
    double products = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      const float x = a[static_cast<size_t>(i)], y = with[static_cast<size_t>(i + distance)];
      ++counts[static_cast<size_t>(part(x) * 16 + part(y))];
      products += double{x} * x * y * y - 1;
    }
    const double expected = kCount / 256.0;
    double chi = 0;
    for (const double c : counts) chi += (c - expected) * (c - expected) / expected;
    EXPECT_LT(chi, 255 + 4 * std::sqrt(2.0 * 255)) << what;
    EXPECT_LT(std::abs(products) / kCount, 5 * 3 / std::sqrt(double{kCount})) << what;
  };
  for (const int64_t distance : {1, 2, 15, 16, 17, 31, 32, 64, 512}) check(a, distance, "elements");
  check(b, 0, "samples");
}

// The exact probabilities of counts, from the logarithm of the gamma function.
TEST(Field, CountsArePoissons) {
  constexpr int64_t kCount = int64_t{kTile} << 11;
  for (const float mean : {0.01f, 0.3f, 1.0f, 4.0f, 9.9f, 15.9f, 16.1f, 40.0f, 250.0f, 5000.0f}) {
    const std::vector<float> in(kTile, mean);
    std::vector<float> out(kTile);
    const CountRule::Coef coef{1};
    std::vector<double> counts(static_cast<size_t>(mean + 20 * std::sqrt(mean) + 40));
    const Target t = best_target();
    for (uint64_t sample = 0; sample < kCount / kTile; ++sample) {
      add_counts(t, {DType::float32, in.data(), out.data(), kTile}, {5, 6, sample}, &coef,
                 PENSTOCK_FOR_TARGET(t, &rules, mean<CountRule>), PENSTOCK_FOR_TARGET(t, &rules, noisy<CountRule>));
      for (const float v : out) ++counts.at(static_cast<size_t>(v));
    }
    // Rare counts together, on either side.
    double chi = 0, expected = 0, seen = 0;
    int classes = 0;
    const auto close = [&] { chi += (seen - expected) * (seen - expected) / expected, ++classes, expected = seen = 0; };
    for (size_t k = 0; k < counts.size(); ++k) {
      const double n = static_cast<double>(k);
      expected += kCount * std::exp(n * std::log(double{mean}) - mean - std::lgamma(n + 1)), seen += counts[k];
      if (expected > 30 &&
          (n < mean || kCount * std::exp((n + 1) * std::log(double{mean}) - mean - std::lgamma(n + 2)) > 30))
        close();
    }
    close();
    EXPECT_LT(chi, classes + 4 * std::sqrt(2.0 * classes) + 4) << mean;
  }
}

}  // namespace
}  // namespace penstock::field
