// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace penstock {
namespace {

void expect_block(PhiloxBlock got, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  EXPECT_EQ(got.word[0], a);
  EXPECT_EQ(got.word[1], b);
  EXPECT_EQ(got.word[2], c);
  EXPECT_EQ(got.word[3], d);
}

// The three philox4x32-10 lines of Random123's kat_vectors.
TEST(Philox, MatchesThePublishedKnownAnswers) {
  expect_block(Philox::generate({{0, 0, 0, 0}}, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  const uint32_t f = 0xffffffff;
  expect_block(Philox::generate({{f, f, f, f}}, f, f), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect_block(Philox::generate({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0), 0xd16cfe09,
               0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(Philox, Uniform01IsHalfOpenAndExact) {
  EXPECT_EQ(uniform01(0), 0.0f);
  EXPECT_EQ(uniform01(255), 0.0f);
  EXPECT_EQ(uniform01(256), 0x1p-24f);
  EXPECT_EQ(uniform01(0x80000000u), 0.5f);
  EXPECT_EQ(uniform01(0xffffffffu), 1.0f - 0x1p-24f);
}

TEST(Philox, DrawsAreTheWordsOfTheBlocks) {
  const RandomStream s = random_stream({.seed = 7, .epoch = 1, .sample = uint64_t{5} << 33, .node = 3, .loop = 2});
  for (uint64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(s.draw(i), s.block(i / 4).word[i % 4]);
    EXPECT_EQ(s.draw64(i), s.draw(2 * i) | uint64_t{s.draw(2 * i + 1)} << 32);
  }
}

TEST(Philox, EveryFieldOfTheKeyChangesTheStream) {
  const RandomKey base{.seed = 1, .epoch = 2, .sample = 3, .node = 4, .loop = 5};
  std::vector<RandomKey> keys(1, base);
  for (int bit = 0; bit < 64; ++bit) {
    auto add = [&](auto change) {
      RandomKey k = base;
      change(k);
      keys.push_back(k);
    };
    add([&](RandomKey& k) { k.seed ^= uint64_t{1} << bit; });
    add([&](RandomKey& k) { k.sample ^= uint64_t{1} << bit; });
    if (bit < 32) {
      add([&](RandomKey& k) { k.epoch ^= 1u << bit; });
      add([&](RandomKey& k) { k.node ^= 1u << bit; });
      add([&](RandomKey& k) { k.loop ^= 1u << bit; });
    }
  }
  std::set<uint64_t> seen;
  for (const auto& k : keys)
    for (auto purpose : {RandomPurpose::augmentation, RandomPurpose::order, RandomPurpose::replacement})
      seen.insert(random_stream(k, purpose).draw64(0));
  EXPECT_EQ(seen.size(), keys.size() * 3);
}

// Neighboring samples and draws: mean 1/2, variance 1/12, no correlation; 5 sigma, of fixed draws.
TEST(Philox, NeighborsAreUncorrelated) {
  const int samples = 1000, draws = 100;
  double sum = 0, squares = 0, across = 0, along = 0;
  for (int s = 0; s < samples; ++s) {
    const RandomStream a = random_stream({.seed = 42, .sample = static_cast<uint64_t>(s)});
    const RandomStream b = random_stream({.seed = 42, .sample = static_cast<uint64_t>(s) + 1});
    for (int i = 0; i < draws; ++i) {
      const double x = a.uniform(i) - 0.5;
      sum += x;
      squares += x * x;
      across += x * (b.uniform(i) - 0.5);
      along += x * (a.uniform(i + 1) - 0.5);
    }
  }
  const double n = double{samples} * draws;
  EXPECT_LT(std::abs(sum / n), 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_LT(std::abs(squares / n - 1.0 / 12), 5 * std::sqrt(1.0 / 180 / n));
  EXPECT_LT(std::abs(across / n), 5 * (1.0 / 12) / std::sqrt(n));
  EXPECT_LT(std::abs(along / n), 5 * (1.0 / 12) / std::sqrt(n));
}

}  // namespace
}  // namespace penstock
