// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "data/test_folder.h"

namespace penstock {
namespace {

TEST(ThreadPool, RunsEachIndexOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(n);
      pool.parallel_for(n, [&](int64_t i, int thread) {
        ASSERT_GE(thread, 0);
        ASSERT_LT(thread, threads);
        ++seen[i];
      });
      for (const auto& s : seen) EXPECT_EQ(s, 1);
    }
  }
}

TEST(ThreadPool, ThrowsTheFirstErrorAgainAndStaysUsable) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(pool.parallel_for(100,
                                   [](int64_t i, int) {
                                     if (i == 13) throw std::runtime_error("13");
                                   }),
                 std::runtime_error);
    std::atomic<int> n{0};
    pool.parallel_for(50, [&](int64_t, int) { ++n; });
    EXPECT_EQ(n, 50);
  }
}

TEST(ThreadPool, ThrowsTheErrorOfTheFirstIndexWhicheverComesFirst) {
  ThreadPool pool(2);
  std::atomic<bool> other{false};
  try {
    pool.parallel_for(9, [&](int64_t i, int) {
      if (i == 0) {
        while (!other) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
      }
      other = true;
      throw static_cast<int>(i);
    });
    FAIL();
  } catch (int index) {
    EXPECT_EQ(index, 0);
  }
}

TEST(ThreadPool, ServesCallersFromSeveralThreads) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int r = 0; r < 25; ++r) pool.parallel_for(40, [&](int64_t i, int) { sum += i; });
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(sum, 4 * 25 * 780);
}

TEST(Cores, AtLeastOne) { EXPECT_GE(usable_cores(), 1); }

TEST(Cores, AQuotaIsReadOfBothVersionsOfCgroups) {
  const TestFolder none, open, two, old, old_open;
  EXPECT_EQ(cores_of_quota(none.path()), 0);
  open.write("cpu.max", "max 100000\n");
  EXPECT_EQ(cores_of_quota(open.path()), 0);
  two.write("cpu.max", "250000 100000\n");
  EXPECT_EQ(cores_of_quota(two.path()), 2.5);
  old.write("cpu/cpu.cfs_quota_us", "150000\n");
  old.write("cpu/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(cores_of_quota(old.path()), 3);
  old_open.write("cpu/cpu.cfs_quota_us", "-1\n");
  old_open.write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores_of_quota(old_open.path()), 0);
}

}  // namespace
}  // namespace penstock
