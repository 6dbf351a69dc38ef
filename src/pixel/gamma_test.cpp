// SPDX-License-Identifier: Apache-2.0
#include "pixel/gamma.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "pixel/philox.h"

namespace penstock {
namespace {

TEST(Gamma, UniformNumbersAreThoseOfTheConversion) {
  std::mt19937 random(4);
  const uint32_t ends[] = {0, 1, 0x7FF, 0x800, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  for (int k = 0; k < 10000; ++k) {
    const auto pick = [&] { return k < 49 ? ends[random() % 7] : static_cast<uint32_t>(random()); };
    const uint32_t low = pick(), high = pick();
    EXPECT_EQ(series::above_zero(low, high), 1.0 - uniform01_wide(low | uint64_t{high} << 32)) << low << " " << high;
  }
}

double drawn(const RandomStream& stream, const BetaShapes& shapes, uint64_t next) {
  for (;; next += beta_blocks(shapes.small())) {
    const PhiloxBlock a = stream.block(next), b = stream.block(next + 1), c = stream.block(next + 2);
    const BetaWords w{{a.word[0], a.word[1], a.word[2], a.word[3]},
                      {b.word[0], b.word[1], b.word[2], b.word[3]},
                      {c.word[0], c.word[1], c.word[2], c.word[3]}};
    const bool small = shapes.small();
    const double found = small ? beta_attempt<true, false>(shapes, w) : beta_attempt<false, false>(shapes, w);
    const double quick = small ? beta_attempt<true, true>(shapes, w) : beta_attempt<false, true>(shapes, w);
    if (quick == quick) EXPECT_EQ(quick, found);
    if (found == found) return found;
  }
}
// The moments of the beta distribution, and its logarithm's where the shapes are small.
TEST(Gamma, MomentsAreThoseOfTheShapes) {
  const RandomStream stream = random_stream({.seed = 8});
  for (const auto [a, b] : {std::pair{0.3, 0.3}, {0.3, 4.0}, {1.0, 1.0}, {2.5, 1.5}, {40.0, 7.0}, {1e6, 1e6}}) {
    const BetaShapes shapes{gamma_shape(a), gamma_shape(b)};
    double sum = 0, squares = 0;
    constexpr int kNumbers = 40000;
    for (int i = 0; i < kNumbers; ++i) {
      const double v = drawn(stream, shapes, first_gamma_block(i));
      sum += v, squares += v * v;
    }
    const double mean = sum / kNumbers, variance = a * b / ((a + b) * (a + b) * (a + b + 1));
    EXPECT_NEAR(mean, a / (a + b), 5 * std::sqrt(variance / kNumbers)) << a << " " << b;
    EXPECT_NEAR((squares / kNumbers - mean * mean) / variance, 1, 0.03) << a << " " << b;
  }
}
// The quick test of an attempt never takes what the logarithms refuse.
TEST(Gamma, QuickTestIsContainedInTheOther) {
  for (const double shape : {0.01, 0.3, 1.0, 1.01, 2.5, 40.0, 1e4}) {
    const GammaShape s = gamma_shape(shape);
    for (int k = -700; k <= 700; ++k) {
      const double x = k * 0.01, v = std::pow(1 + s.c * x, 3), refused = 0.0331 * x * x * x * x;
      if (!(v > 0) || refused >= 1) continue;
      const double most = 0.5 * x * x + s.d * (1 - v + std::log(v));
      EXPECT_LE(std::log1p(-refused), most + 1e-10) << shape << " " << x;
    }
  }
}

}  // namespace
}  // namespace penstock
