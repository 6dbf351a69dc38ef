// SPDX-License-Identifier: Apache-2.0
#include "exec/staging_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

class CountingMemory final : public MemoryResource {
 public:
  void* allocate(size_t bytes, StreamHandle) override {
    blocks.fetch_add(1), in_use += bytes;
    return system_memory().allocate(bytes);
  }
  void deallocate(void* p, size_t bytes, StreamHandle) noexcept override {
    in_use -= bytes;
    system_memory().deallocate(p, bytes);
  }
  std::atomic<int> blocks{0};
  std::atomic<size_t> in_use{0};
};

TEST(StagingMemory, PiecesLieCloseTogetherAndBlocksGoBack) {
  auto from = std::make_shared<CountingMemory>();
  {
    StagingMemory staging(from);
    std::vector<std::pair<char*, size_t>> pieces;
    for (size_t i = 0; i < 9; ++i) pieces.emplace_back(static_cast<char*>(staging.allocate(90000 + i)), 90000 + i);
    EXPECT_EQ(from->blocks, 1);
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces[i].first) % 64, 0u);
      if (i > 0) {
        EXPECT_LE(pieces[i].first - (pieces[i - 1].first + pieces[i - 1].second), 127);
      }
    }
    for (auto& [p, n] : pieces) staging.deallocate(p, n);
    EXPECT_EQ(staging.allocate(10), pieces[0].first);  // an empty block starts again
    staging.deallocate(pieces[0].first, 10);
    EXPECT_EQ(from->blocks, 1);
    void* large = staging.allocate(3 << 20);
    EXPECT_EQ(from->blocks, 2);
    staging.deallocate(large, 3 << 20);
    EXPECT_EQ(from->in_use, StagingMemory::kFirstBlock);
    EXPECT_THROW(staging.allocate(SIZE_MAX - 5), Error);
  }
  EXPECT_EQ(from->in_use, 0u);
}

TEST(StagingMemory, ManyThreads) {
  auto from = std::make_shared<CountingMemory>();
  {
    StagingMemory staging(from);
    const auto work = [&](unsigned seed) {
      std::mt19937 random(seed);
      std::vector<std::pair<void*, size_t>> mine;
      for (int i = 0; i < 3000; ++i) {
        const size_t bytes = random() % 60000;
        void* p = staging.allocate(bytes);
        std::memset(p, static_cast<int>(seed), bytes);
        mine.emplace_back(p, bytes);
        if (mine.size() > 40) {
          auto& [q, n] = mine[random() % mine.size()];
          for (size_t k = 0; k < n; k += 997) ASSERT_EQ(static_cast<char*>(q)[k], static_cast<char>(seed));
          staging.deallocate(q, n);
          std::swap(mine.back(), *std::find(mine.begin(), mine.end(), std::pair(q, n)));
          mine.pop_back();
        }
      }
      for (auto& [p, n] : mine) staging.deallocate(p, n);
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < 5; ++t) threads.emplace_back(work, t);
    for (auto& t : threads) t.join();
  }
  EXPECT_EQ(from->in_use, 0u);
}

}  // namespace
}  // namespace penstock
