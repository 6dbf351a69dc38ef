// SPDX-License-Identifier: Apache-2.0
#include "numerics/lz4.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

TEST(Lz4, DecodesLiteralsAndOverlappingMatches) {
  const std::vector<uint8_t> block = {0x24, 'a', 'b', 2, 0, 0x10, 'c'};  // "ab", 8 from 2 back, "c"
  std::vector<uint8_t> out(11);
  decode_lz4(block, out);
  EXPECT_EQ(std::string(out.begin(), out.end()),
            "ababababab"
            "c");
  out.resize(10);
  EXPECT_THROW(decode_lz4(block, out), Error);
  out.resize(12);
  EXPECT_THROW(decode_lz4(block, out), Error);
}

TEST(Lz4, RefusesAnyDamageWithoutLeavingItsMemory) {
  std::mt19937 random(7);
  for (int round = 0; round < 50000; ++round) {
    std::vector<uint8_t> block(random() % 40), out(random() % 300);
    for (auto& b : block) b = static_cast<uint8_t>(random() % 4 ? random() % 20 : random());
    try {
      decode_lz4(block, out);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace penstock
