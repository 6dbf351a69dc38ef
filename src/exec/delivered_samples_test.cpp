// SPDX-License-Identifier: Apache-2.0
#include "exec/delivered_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace penstock {
namespace {

using States = DeliveredSamples::States;

States after(uint64_t number) { return {{0, std::to_string(number)}}; }

TEST(DeliveredSamples, TheStatePassesBatchesOfWhichNoneIsOut) {
  DeliveredSamples d;
  for (uint64_t k = 0; k < 3; ++k) d.brought(k, 2, 0, after(k));
  const BroughtSample second[] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  EXPECT_FALSE(d.deliver(second));
  EXPECT_EQ(d.furthest(), after(1));
  const BroughtSample first[] = {{0, 0, 0}};
  EXPECT_EQ(d.deliver(first), after(1));
  EXPECT_TRUE(d.list().empty());
}

// The batch in which an epoch ends: the user has left the first epoch when a sample of the second one came.
TEST(DeliveredSamples, ABatchOfTwoEpochsIsReachedWithTheSecond) {
  DeliveredSamples d;
  d.brought(0, 2, 0, after(0));
  d.brought(1, 2, 1, after(1));
  const BroughtSample old[] = {{1, 0, 0}}, other[] = {{1, 1, 1}};
  d.deliver(old);
  EXPECT_EQ(d.furthest(), after(0));
  d.deliver(other);
  EXPECT_EQ(d.furthest(), after(1));
}

// Batches of samples in any order, with resumed ones between them: each sample comes once.
TEST(DeliveredSamples, AnyOrderAndAnyInterruptionGiveEachOnce) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const int batches = 1 + static_cast<int>(random() % 8), size = 1 + static_cast<int>(random() % 5);
    std::vector<int> times(static_cast<size_t>(batches * size), 0);
    uint64_t base = 0;  // batch that a source which is restored gives first
    std::vector<std::vector<DeliveredSamples::Range>> list;
    while (base < static_cast<uint64_t>(batches)) {
      DeliveredSamples d;
      d.resume(list);
      std::vector<BroughtSample> out;
      for (uint64_t k = base; k < static_cast<uint64_t>(batches); ++k) {
        const auto had = d.brought(k, size, 0, after(k));
        for (int i = 0; i < size; ++i)
          if (!had[static_cast<size_t>(i)]) out.push_back({k, i, 0});
      }
      std::shuffle(out.begin(), out.end(), random);
      out.resize(std::min(out.size(), size_t{1} + random() % 7));
      for (const BroughtSample& s : out)
        ++times[s.brought * static_cast<uint64_t>(size) + static_cast<uint64_t>(s.place)];
      if (const auto passed = d.deliver(out)) base = std::stoull(passed->at(0)) + 1;
      list = d.list();
    }
    for (const int t : times) ASSERT_EQ(t, 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace penstock
