// SPDX-License-Identifier: Apache-2.0
#include "pixel/philox_blocks.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(PhiloxBlocks, AreTheBlocksOfEachStream) {
  const RandomStream stream = random_stream({.seed = 7, .epoch = 1, .node = 3, .loop = 2});
  uint64_t samples[kStreamsTogether];
  for (size_t i = 0; i < kStreamsTogether; ++i) samples[i] = i * i + (i % 3 == 0 ? uint64_t{5} << 33 : 0);
  for (size_t n = 0; n <= kStreamsTogether; ++n)
    for (uint64_t b : {uint64_t{0}, uint64_t{5}, uint64_t{9} << 40}) {
      PhiloxColumns columns;
      philox_blocks(stream, {samples, n}, b, columns);
      for (size_t i = 0; i < n; ++i) {
        const PhiloxBlock got = columns.block(i), one = RandomStream{stream.key0, stream.key1, samples[i]}.block(b);
        for (int k = 0; k < 4; ++k) ASSERT_EQ(got.word[k], one.word[k]) << n << " streams, " << i << ", block " << b;
      }
    }
}

TEST(PhiloxBlocks, AreTheNumberedBlocksOfAStream) {
  const RandomStream stream = random_stream({.seed = 9, .epoch = 2, .sample = (uint64_t{3} << 32) + 11, .node = 1});
  uint64_t numbers[kStreamsTogether];
  for (size_t i = 0; i < kStreamsTogether; ++i) numbers[i] = i * 7 + (i % 4 == 1 ? uint64_t{6} << 32 : 0);
  for (size_t n = 0; n <= kStreamsTogether; ++n) {
    PhiloxColumns columns, run;
    philox_blocks_at(stream, {numbers, n}, columns);
    philox_run(stream, 0xFFFFFFF0u, n, run);
    for (size_t i = 0; i < n; ++i)
      for (int k = 0; k < 4; ++k) {
        ASSERT_EQ(columns.block(i).word[k], stream.block(numbers[i]).word[k]) << n << " blocks, " << i;
        ASSERT_EQ(run.block(i).word[k], stream.block(uint64_t{0xFFFFFFF0u} + i).word[k]) << n << " blocks, " << i;
      }
  }
}

}  // namespace
}  // namespace penstock
