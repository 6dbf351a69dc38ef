// SPDX-License-Identifier: Apache-2.0
#include "pixel/gamma.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

// The mean and the variance of the gamma distribution are its shape.
TEST(Gamma, MomentsAreTheShape) {
  const RandomStream stream = random_stream({.seed = 8});
  for (const double shape : {0.3, 1.0, 2.5, 40.0}) {
    const GammaShape s = gamma_shape(shape);
    double sum = 0, squares = 0;
    constexpr int kNumbers = 40000;
    for (int i = 0; i < kNumbers; ++i) {
      double found = kNan;
      for (uint64_t next = first_gamma_block(i); found != found; next += 2) {
        const PhiloxBlock a = stream.block(next), b = stream.block(next + 1);
        const GammaWords w{{a.word[0], a.word[1], a.word[2], a.word[3]}, {b.word[0], b.word[1], b.word[2], b.word[3]}};
        found = s.small ? gamma_attempt<true>(s, w) : gamma_attempt<false>(s, w);
      }
      const double v = std::exp(found);
      sum += v, squares += v * v;
    }
    const double mean = sum / kNumbers, error = std::sqrt(shape / kNumbers);
    EXPECT_NEAR(mean, shape, 5 * error);
    EXPECT_NEAR(squares / kNumbers - mean * mean, shape, 0.08 * shape + 0.02);
  }
}

}  // namespace
}  // namespace penstock
