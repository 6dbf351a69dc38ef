// SPDX-License-Identifier: Apache-2.0
#include "data/replacement.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

TEST(Replacement, IsAnotherPositionAndAlwaysTheSame) {
  for (int64_t size : {2, 3, 10, 1000})
    for (int64_t position = 0; position < std::min<int64_t>(size, 50); ++position)
      for (uint32_t attempt = 0; attempt < 10; ++attempt) {
        const int64_t other = replacement_position(1, 2, position, attempt, size);
        EXPECT_GE(other, 0);
        EXPECT_LT(other, size);
        EXPECT_NE(other, position);
        EXPECT_EQ(other, replacement_position(1, 2, position, attempt, size));
      }
  EXPECT_EQ(replacement_position(1, 2, 0, 0, 1), 0);
  EXPECT_LT(replacement_position(1, 2, 107, 0, 100), 100);  // for a repeated sample
  EXPECT_THROW(replacement_position(1, 2, 0, 0, 0), Error);
  EXPECT_THROW(replacement_position(1, 2, -1, 0, 5), Error);
}

TEST(Replacement, AttemptsReachEveryOtherSample) {
  std::set<int64_t> reached;
  for (uint32_t attempt = 0; attempt < 200; ++attempt) reached.insert(replacement_position(7, 0, 4, attempt, 10));
  EXPECT_EQ(reached.size(), 9u);
}

TEST(Replacement, IsUniform) {
  const int64_t size = 50;
  const int draws = 98000;
  std::vector<int> counts(size);
  for (int i = 0; i < draws; ++i) ++counts[replacement_position(3, i, 20, 0, size)];
  EXPECT_EQ(counts[20], 0);
  const double expected = draws / 49.0;
  double x = 0;
  for (int64_t i = 0; i < size; ++i) x += i == 20 ? 0 : std::pow(counts[i] - expected, 2) / expected;
  EXPECT_LT(std::abs(x - 48), 5 * std::sqrt(2 * 48.0));  // chi-square, 5 sigma; the seed is fixed
}

LeftOut lost(uint64_t epoch, int64_t position) {
  return {epoch, position, "f" + std::to_string(position) + ".jpg", "cut short"};
}

TEST(ErrorBudget, AllowsWhatItAllowsInEachEpoch) {
  ErrorBudget budget = ErrorBudget::count(2);
  budget.add(lost(0, 5));
  budget.add(lost(0, 9));
  budget.add(lost(0, 5));  // reported again, counts once
  budget.add(lost(1, 5));
  budget.add(lost(1, 9));
  try {
    budget.add(lost(0, 7));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::data);
    EXPECT_EQ(e.full_message(),
              "epoch 0 has lost 3 samples, more than the error budget of 2; the last: cut short (file: f7.jpg)");
  }
  EXPECT_EQ(budget.total(), 5);
  const auto list = budget.list();
  ASSERT_EQ(list.size(), 5u);
  const std::vector<std::pair<uint64_t, int64_t>> expected{{0, 5}, {0, 7}, {0, 9}, {1, 5}, {1, 9}};
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].epoch, expected[i].first);
    EXPECT_EQ(list[i].position, expected[i].second);
    EXPECT_EQ(list[i].message, "cut short");
  }
}

TEST(ErrorBudget, MayBeAFractionNothingOrUnlimited) {
  ErrorBudget tenth = ErrorBudget::fraction(0.1, 39);  // 3 samples
  for (int i = 0; i < 3; ++i) tenth.add(lost(0, i));
  EXPECT_THROW(tenth.add(lost(0, 3)), Error);
  ErrorBudget none = ErrorBudget::count(0);
  EXPECT_THROW(none.add(lost(0, 0)), Error);
  ErrorBudget all = ErrorBudget::fraction(1, 5);
  for (int i = 0; i < 5; ++i) all.add(lost(0, i));
  EXPECT_THROW(ErrorBudget::count(-1), Error);
  EXPECT_THROW(ErrorBudget::fraction(1.01, 5), Error);
  EXPECT_THROW(ErrorBudget::fraction(-0.1, 5), Error);
  EXPECT_THROW(ErrorBudget::fraction(NAN, 5), Error);
}

TEST(ErrorBudget, KeepsABoundedList) {
  ErrorBudget budget = ErrorBudget::unlimited();
  for (uint64_t epoch = 0; epoch < 30; ++epoch)
    for (int i = 0; i < 1000; ++i) budget.add(lost(epoch, i));
  EXPECT_EQ(budget.total(), 30000);
  EXPECT_EQ(static_cast<int64_t>(budget.list().size()), ErrorBudget::list_limit);
}

TEST(ErrorBudget, CountsFromManyThreads) {
  ErrorBudget budget = ErrorBudget::count(500);
  std::atomic<int> thrown{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        try {
          budget.add(lost(0, i * 4 + t));
        } catch (const Error&) {
          ++thrown;
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(thrown, 300);
  EXPECT_EQ(budget.total(), 800);
}

}  // namespace
}  // namespace penstock
