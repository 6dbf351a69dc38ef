// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

TEST(HostPool, ReusesBlocksAndGivesThemBack) {
  HostPool pool;
  void* a = pool.allocate(100000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  std::memset(a, 1, 100000);
  pool.deallocate(a, 100000);
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  EXPECT_GE(pool.bytes_held(), 100000u);
  void* b = pool.allocate(99999);
  EXPECT_EQ(a, b);
  pool.deallocate(b, 99999);
  pool.trim();
  EXPECT_EQ(pool.bytes_held(), 0u);
}

TEST(HostPool, SizesThatDoNotComeAgainDoNotPileUp) {
  HostPool pool;
  for (size_t n = size_t{2} << 20; n < (size_t{4} << 20); n += 4096) pool.deallocate(pool.allocate(n), n);
  EXPECT_LE(pool.bytes_held(), size_t{36} << 20);
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(pool.allocate(size_t{16} << 20));
  for (void* p : blocks) pool.deallocate(p, size_t{16} << 20);
  EXPECT_GE(pool.bytes_held(), size_t{128} << 20);  // the pool may keep up to the peak of bytes in use
}

TEST(HostPool, ATurnOfALoopFindsAllItsBlocksAgain) {
  constexpr size_t kMega = size_t{1} << 20;
  HostPool pool;
  const auto turn = [&] {  // two blocks at a time, the last one for longer than the turn
    void* before = pool.allocate(30 * kMega);
    for (const size_t n : {60, 90, 200}) {
      void* const next = pool.allocate(n * kMega);
      pool.deallocate(before, (n == 60 ? 30 : n == 90 ? 60 : 90) * kMega);
      before = next;
    }
    return before;
  };
  void* const first = turn();
  pool.deallocate(first, 200 * kMega);
  EXPECT_EQ(pool.bytes_held(), 380 * kMega);
  EXPECT_EQ(turn(), first);
  EXPECT_EQ(pool.bytes_held(), 380 * kMega);
  pool.deallocate(first, 200 * kMega);
}

TEST(HostPool, WastesAtMostAQuarter) {
  HostPool pool;
  for (size_t n = 1000; n < (size_t{1} << 24); n = n * 13 / 10) {
    void* p = pool.allocate(n);
    EXPECT_GE(pool.bytes_in_use(), n);
    EXPECT_LE(pool.bytes_in_use(), n + n / 4 + 4096);
    pool.deallocate(p, n);
  }
}

TEST(HostPool, LargeBlocksServeForALittleLess) {
  constexpr size_t kMega = size_t{1} << 20;
  HostPool pool;
  void* const a = pool.allocate(40 * kMega);
  pool.deallocate(a, 40 * kMega);
  EXPECT_EQ(pool.allocate(35 * kMega), a);
  EXPECT_EQ(pool.bytes_in_use(), 40 * kMega);
  pool.deallocate(a, 35 * kMega);
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  void* const less = pool.allocate(30 * kMega);  // more than a quarter would be slack
  EXPECT_NE(less, a);
  EXPECT_EQ(pool.bytes_in_use(), 30 * kMega);
  EXPECT_EQ(pool.allocate(40 * kMega), a);
  pool.deallocate(less, 30 * kMega);
  pool.deallocate(a, 40 * kMega);
  pool.trim();
  EXPECT_EQ(pool.bytes_held(), 0u);
}

TEST(HostPool, IsSafeAcrossThreads) {
  auto pool = std::make_shared<HostPool>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        auto p = allocate_shared(pool, 64 + 100 * ((i * 7 + t) % 50));
        std::memset(p.get(), t, 64);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(pool->bytes_in_use(), 0u);
}

TEST(Memory, SizesAreCheckedBeforeTheyAreMultiplied) {
  EXPECT_EQ(checked_bytes(10, 8), 80u);
  EXPECT_THROW(checked_bytes(-1, 1), Error);
  EXPECT_THROW(checked_bytes(INT64_MAX, 8), Error);
  EXPECT_THROW(checked_bytes(int64_t{1} << 60, 1), Error);
}

TEST(Memory, OutlivesItsOwnersPointer) {
  std::shared_ptr<void> p;
  {
    auto pool = std::make_shared<HostPool>();
    p = allocate_shared(pool, 1000);
  }
  std::memset(p.get(), 7, 1000);
}

}  // namespace
}  // namespace penstock
