// SPDX-License-Identifier: Apache-2.0
#include "exec/duration_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "exec/slow_samples.h"

namespace penstock {
namespace {

TEST(DurationCounts, PercentilesAreRightTo7Percent) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::lognormal_distribution<double> durations(5.0 + round * 0.8, 1.5);
    std::vector<int64_t> all;
    DurationCounts counts;
    for (int i = 0; i < 2000; ++i) {
      all.push_back(static_cast<int64_t>(durations(random)));
      counts.add(all.back());
    }
    std::sort(all.begin(), all.end());
    for (const double share : {0.0, 0.5, 0.9, 0.99}) {
      const auto want = static_cast<double>(all[static_cast<size_t>(share * 2000)]);
      EXPECT_NEAR(static_cast<double>(counts.percentile(share)), want, 0.07 * want + 1) << share;
    }
    EXPECT_EQ(counts.most(), all.back());
    EXPECT_EQ(counts.percentile(1.0), all.back());
  }
}

TEST(DurationCounts, EdgesAndSums) {
  DurationCounts none, some;
  EXPECT_EQ(none.percentile(0.5), 0);
  some.add(-5), some.add(0), some.add(INT64_MAX), some.add(7, 3);
  EXPECT_EQ(some.total(), 6);
  none.add(some), none.add(some);
  EXPECT_EQ(none.total(), 12);
  EXPECT_EQ(none.percentile(0.5), 7);
  EXPECT_EQ(none.most(), INT64_MAX);
}

TEST(SlowSamples, KeepsTheSlowestAndEachSourceOnce) {
  SlowSamples slow;
  for (int64_t i = 1; i <= 100; ++i) slow.add({.ns = i, .source = "file " + std::to_string(i % 50)});
  const auto all = slow.sorted();
  ASSERT_EQ(all.size(), SlowSamples::kMost);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].ns, 100 - static_cast<int64_t>(i));
  EXPECT_EQ(slow.least(), 93);
  slow.add({.ns = 500, .source = "file 0"});
  slow.add({.ns = 400, .source = "file 0"});
  EXPECT_EQ(slow.sorted()[0].ns, 500);
  EXPECT_EQ(slow.sorted()[0].visits, 3);
  EXPECT_EQ(slow.sorted()[0].least_ns, 100);
}

TEST(SlowSamples, SourcesThatAreNotKnownAreSamplesOfTheirOwn) {
  SlowSamples slow;
  for (int64_t i = 1; i <= 3; ++i) slow.add({.ns = i, .source = ""});
  EXPECT_EQ(slow.sorted().size(), 3U);
  EXPECT_EQ(slow.least(), 0);
}

}  // namespace
}  // namespace penstock
