// SPDX-License-Identifier: Apache-2.0
#include "readers/batch_numbers.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock {
namespace {

struct OrderCase {
  OrderSettings settings;
  int64_t unit;
  EpochMode mode;
  Dealing dealing;
};

OrderCase random_case(std::mt19937& rng) {
  const auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(rng);
  };
  OrderCase c;
  c.settings.num_shards = static_cast<int32_t>(pick(1, 4)),
  c.settings.shard_id = static_cast<int32_t>(pick(0, c.settings.num_shards - 1));
  c.settings.size = pick(c.settings.num_shards, 40);
  c.settings.shuffle = pick(0, 1) ? Shuffle::every_epoch : Shuffle::none;
  c.settings.stick_to_shard = pick(0, 1);
  c.settings.epoch_end = static_cast<EpochEnd>(pick(0, 2));
  c.unit = pick(1, 9), c.mode = static_cast<EpochMode>(pick(0, 3));
  if (c.settings.num_shards == 1)
    c.dealing.workers = static_cast<int32_t>(pick(1, 4)),
    c.dealing.worker = static_cast<int32_t>(pick(0, c.dealing.workers - 1));
  return c;
}

// Batch after batch, as a reader takes them.
TEST(BatchNumbers, AreThoseOfGoingThroughTheBatches) {
  std::mt19937 rng(1);
  for (int round = 0; round < 2000; ++round) {
    const OrderCase c = random_case(rng);
    const SampleOrder order(c.settings);
    const BatchNumbers numbers(order, c.unit, c.mode, c.dealing);
    const int64_t taken = c.unit * c.dealing.workers;
    if (c.mode == EpochMode::stream) {
      SampleOrder::Cursor at{};
      std::vector<int64_t> first(4, -1);  // of each epoch: the first batch of the worker that begins in it
      for (int64_t n = 0; n < 30; ++n) {
        SampleOrder::Cursor own = numbers.after(at, c.unit * c.dealing.worker);
        for (uint64_t e = 0; e < first.size(); ++e)
          if (first[e] < 0 && own.epoch >= e) first[e] = n;
        const SampleOrder::Cursor found = numbers.place(n);
        ASSERT_EQ(found.epoch, at.epoch) << round << " " << n;
        ASSERT_EQ(found.taken, at.taken) << round << " " << n;
        at = numbers.after(at, taken);
      }
      for (uint64_t e = 0; e < first.size(); ++e) {
        if (first[e] < 0) continue;
        ASSERT_EQ(numbers.number(e, 0), first[e]) << round << " " << e;
        ASSERT_EQ(numbers.number(e, 5), first[e] + 5);
      }
      continue;
    }
    int64_t n = 0, all = 0;
    for (uint64_t e = 0; e < 9; ++e) all += numbers.batches(e);
    if (all == 0) {
      EXPECT_THROW(numbers.place(0), Error);
      continue;
    }
    for (uint64_t e = 0; e < 9; ++e) {
      ASSERT_EQ(numbers.number(e, 0), n) << round;
      for (int64_t k = 0; k < numbers.batches(e); ++k, ++n) {
        const SampleOrder::Cursor found = numbers.place(n);
        ASSERT_EQ(found.epoch, e) << round << " " << n;
        ASSERT_EQ(found.taken, k * taken) << round << " " << n;
      }
    }
  }
}

TEST(BatchNumbers, FarOnesAreFoundOrRefused) {
  OrderSettings settings;
  settings.size = 1000, settings.num_shards = 7, settings.shard_id = 3;
  const SampleOrder order(settings);
  const BatchNumbers numbers(order, 10, EpochMode::partial);
  int64_t period = 0;
  for (uint64_t e = 0; e < 7; ++e) period += numbers.batches(e);
  EXPECT_EQ(numbers.number(7'000'000, 0), period * 1'000'000);
  EXPECT_EQ(numbers.place(period * 1'000'000 + 1).epoch, 7'000'000u);
  EXPECT_THROW(numbers.place(int64_t{1} << 60), Error);
  EXPECT_THROW(numbers.number(UINT32_MAX, INT64_MAX), Error);
  EXPECT_THROW(BatchNumbers(order, 1 << 20, EpochMode::stream).place(int64_t{1} << 50), Error);
}

}  // namespace
}  // namespace penstock
