// SPDX-License-Identifier: Apache-2.0
#include "data/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

std::vector<int64_t> all(const Permutation& p) {
  std::vector<int64_t> v(p.size());
  for (int64_t i = 0; i < p.size(); ++i) v[i] = p(i);
  return v;
}

void expect_bijective(int64_t n, uint64_t seed) {
  auto v = all(Permutation(n, seed, 3));
  std::sort(v.begin(), v.end());
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(v[i], i) << "n = " << n << ", seed = " << seed;
}

// A chi-square statistic with d degrees of freedom is about normal(d, 2d); 5 sigma. The seeds are fixed.
void expect_chi_square(const std::vector<int64_t>& counts, double expected, double degrees) {
  double x = 0;
  for (const int64_t c : counts) x += (c - expected) * (c - expected) / expected;
  EXPECT_LT(std::abs(x - degrees), 5 * std::sqrt(2 * degrees)) << x << " with " << degrees << " degrees of freedom";
}

TEST(Permutation, IsABijectionOfEverySmallSize) {
  for (int64_t n = 0; n <= 300; ++n)
    for (uint64_t seed : {0u, 1u, 12345u}) expect_bijective(n, seed);
}

TEST(Permutation, IsABijectionOfPrimesAndPowersOfTwo) {
  for (int64_t n : {311, 1009, 4099, 7919, 65537, 104729, 1299709}) expect_bijective(n, 9);
  for (int k = 9; k <= 18; ++k)
    for (int64_t d : {-1, 0, 1}) expect_bijective((int64_t{1} << k) + d, 17);
}

TEST(Permutation, StaysInRangeAndDistinctWhereItIsTooLargeToList) {
  for (int64_t n : {int64_t{1281167}, int64_t{1} << 32, (int64_t{1} << 40) + 7, (int64_t{1} << 62) - 1}) {
    const Permutation p(n, 5, 0);
    std::unordered_set<int64_t> seen;
    for (int64_t i = 0; i < 100000; ++i) {
      const int64_t at = i < 50000 ? i : n - 1 - (i - 50000);
      const int64_t v = p(at);
      ASSERT_GE(v, 0);
      ASSERT_LT(v, n);
      ASSERT_TRUE(seen.insert(v).second);
    }
  }
}

TEST(Permutation, DependsOnSeedEpochAndStreamOnly) {
  const auto base = all(Permutation(1000, 1, 2, 3));
  EXPECT_EQ(base, all(Permutation(1000, 1, 2, 3)));
  EXPECT_NE(base, all(Permutation(1000, 2, 2, 3)));
  EXPECT_NE(base, all(Permutation(1000, 1, 3, 3)));
  EXPECT_NE(base, all(Permutation(1000, 1, 2, 4)));
}

TEST(Permutation, EveryElementIsEquallyLikelyAtEveryPosition) {
  for (int64_t n : {2, 5, 16, 100, 257, 300}) {
    const int seeds = 20000;
    for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
      std::vector<int64_t> counts(n);
      for (int s = 0; s < seeds; ++s) ++counts[Permutation(n, s, 0)(at)];
      expect_chi_square(counts, double{seeds} / n, n - 1.0);
    }
  }
}

TEST(Permutation, AllOrdersOfFourAreEquallyLikely) {
  std::map<std::vector<int64_t>, int64_t> orders;
  const int seeds = 24000;
  for (int s = 0; s < seeds; ++s) ++orders[all(Permutation(4, 77, s))];
  ASSERT_EQ(orders.size(), 24u);
  std::vector<int64_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  expect_chi_square(counts, seeds / 24.0, 23);
}

TEST(Permutation, NeighborsLandIndependently) {
  for (int64_t n : {1000, 1024, 5000}) {
    const int cells = 10;  // where i and i + 1 map to, in tenths of the range
    std::vector<int64_t> counts(cells * cells), distance(cells);
    const int seeds = 300;
    for (int s = 0; s < seeds; ++s) {
      const auto v = all(Permutation(n, s, 1));
      for (int64_t i = 0; i + 1 < n; i += 2) {  // disjoint pairs, so that counts are independent
        ++counts[v[i] * cells / n * cells + v[i + 1] * cells / n];
        ++distance[(v[i + 1] - v[i] + n) % n * cells / n];
      }
    }
    const double pairs = seeds * std::floor(n / 2.0);
    // In one permutation each tenth is hit exactly n / 10 times, which removes the variance of whole rows: the
    // remaining degrees of freedom are between (cells - 1)^2 and cells^2 - 1.
    double x = 0;
    for (const int64_t c : counts) x += std::pow(c - pairs / counts.size(), 2) / (pairs / counts.size());
    EXPECT_LT(x, 99 + 5 * std::sqrt(2 * 99.0));
    EXPECT_GT(x, 81 - 5 * std::sqrt(2 * 81.0));
    // A difference of 0 cannot occur: (n - 1) differences share the pairs.
    double y = 0;
    for (int c = 0; c < cells; ++c) {
      const double share = (n / cells - (c == 0)) / (n - 1.0);
      y += n % cells == 0 ? std::pow(distance[c] - pairs * share, 2) / (pairs * share) : 0;
    }
    EXPECT_LT(y, 9 + 5 * std::sqrt(18.0));
  }
}

TEST(Permutation, HasFewFixedPointsAndSuccessors) {
  double fixed = 0, successors = 0;
  const int seeds = 2000;
  for (int s = 0; s < seeds; ++s) {
    const auto v = all(Permutation(500, s, 0));
    for (int i = 0; i < 500; ++i) {
      fixed += v[i] == i;
      successors += i > 0 && v[i] == v[i - 1] + 1;
    }
  }
  // Both are Poisson(1) for a random permutation.
  EXPECT_NEAR(fixed / seeds, 1, 5 / std::sqrt(double{seeds}));
  EXPECT_NEAR(successors / seeds, 1, 5 / std::sqrt(double{seeds}));
}

TEST(Permutation, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(Permutation(-1, 0, 0), Error);
  EXPECT_THROW(Permutation(int64_t{1} << 62, 0, 0), Error);
  EXPECT_THROW(Permutation(10, 0, 0)(10), Error);
  EXPECT_THROW(Permutation(1000, 0, 0)(-1), Error);
}

}  // namespace
}  // namespace penstock
