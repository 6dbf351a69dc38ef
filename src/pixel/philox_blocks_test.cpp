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

}  // namespace
}  // namespace penstock
