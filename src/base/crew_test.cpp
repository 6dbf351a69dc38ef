// SPDX-License-Identifier: Apache-2.0
#include "base/crew.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/thread_pool.h"

// The thread sanitizer else ends a child of a process with threads that begins one.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace penstock {
namespace {

void wait_for_idle(const Crew& crew, int threads) {
  while (crew.idle() < threads) std::this_thread::yield();
}

void spend(uint32_t microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

TEST(Crew, RunsEachPartOnceOnPoolsOfAnySize) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
      if (round % 3 == 0) wait_for_idle(pool.crew(), threads - 1);
      const auto parts = static_cast<int64_t>(random() % 40);
      std::vector<std::atomic<int>> seen(static_cast<size_t>(parts));
      std::vector<uint32_t> time(static_cast<size_t>(parts));
      for (auto& t : time) t = random() % 50;
      pool.crew().run(parts, [&](int64_t i) { spend(time[static_cast<size_t>(i)]), ++seen[static_cast<size_t>(i)]; });
      for (const auto& s : seen) EXPECT_EQ(s, 1);
    }
  }
}

TEST(Crew, OtherThreadsTakeParts) {
  ThreadPool pool(2);
  wait_for_idle(pool.crew(), 1);
  std::atomic<int> here{0};
  pool.crew().run(2, [&](int64_t) {  // neither part ends before both have begun
    ++here;
    while (here < 2) std::this_thread::yield();
  });
  EXPECT_EQ(here, 2);
}

TEST(Crew, ThrowsTheErrorOfTheFirstPartByPosition) {
  ThreadPool pool(4);
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const auto first = static_cast<int64_t>(random() % 10);
    const bool others = round % 2;
    wait_for_idle(pool.crew(), round % 4);
    std::string error;
    try {
      pool.crew().run(20, [&](int64_t i) {
        if (i == first) spend(200);  // a later part fails before it
        if (i == first || (others && i > first)) throw std::runtime_error(std::to_string(i));
      });
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
    EXPECT_EQ(error, std::to_string(first));
  }
}

TEST(Crew, PartsAreCutAgainInsideOfLoopsAndParts) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> n{0};
    pool.parallel_for(5, [&](int64_t, int) {
      ASSERT_EQ(Crew::of_thread(), &pool.crew());
      pool.crew().run(6, [&](int64_t) { Crew::of_thread()->run(4, [&](int64_t) { spend(5), ++n; }); });
    });
    EXPECT_EQ(n, 120);
  }
  EXPECT_EQ(Crew::of_thread(), nullptr);
}

TEST(Crew, SeveralOwnersOfOnePool) {
  ThreadPool pool(3);
  std::atomic<int> n{0};
  const auto own = [&] {
    const CrewMember member(&pool.crew());
    for (int i = 0; i < 50; ++i) Crew::of_thread()->run(9, [&](int64_t) { ++n; });
  };
  std::thread other(own), third(own);
  own();
  other.join(), third.join();
  EXPECT_EQ(n, 3 * 50 * 9);
}

TEST(Crew, CutsOnlyLargeWorkAndOnlyForIdleThreads) {
  EXPECT_EQ(Crew::parts(int64_t{1} << 30), 1);  // of no pool
  ThreadPool alone(1), pool(3);
  {
    const CrewMember member(&alone.crew());
    EXPECT_EQ(Crew::parts(int64_t{1} << 30), 1);
  }
  const CrewMember member(&pool.crew());
  wait_for_idle(pool.crew(), 2);
  EXPECT_EQ(Crew::parts(300 << 10), 1);
  EXPECT_EQ(Crew::parts(1 << 20), 4);
  EXPECT_GT(Crew::parts(int64_t{1} << 30), 2);
  pool.crew().set_ready(2);  // they will have samples of their own
  EXPECT_EQ(Crew::parts(int64_t{1} << 30), 1);
}

TEST(Crew, WorksInAForkedChild) {
  set_shared_pool(std::make_shared<ThreadPool>(3));
  shared_pool()->crew().run(4, [](int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    const auto pool = shared_pool();
    std::atomic<int> n{0};
    pool->crew().run(8, [&](int64_t) { ++n; });
    _exit(n == 8 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  set_shared_pool(nullptr);
}

}  // namespace
}  // namespace penstock
