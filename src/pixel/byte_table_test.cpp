// SPDX-License-Identifier: Apache-2.0
// Bytes by a table are those of a plain loop on every target, whatever the table is made of.
#include "pixel/byte_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace penstock {
namespace {

// Part `kind` of a table: a constant, sums, differences, steps, noise.
uint8_t entry(int kind, int place, std::mt19937& random) {
  switch (kind) {
    case 0: return 77;
    case 1: return static_cast<uint8_t>(place + 5);
    case 2: return static_cast<uint8_t>(200 - place);
    case 3: return static_cast<uint8_t>(place & 0xE0);
    default: return static_cast<uint8_t>(random());
  }
}

TEST(ByteTable, EqualsALoopAndWritesNoMore) {
  constexpr int kKinds = 5;
  std::mt19937 random(1);
  for (int round = 0; round < 4 * kKinds * kKinds; ++round) {
    const int first = round % kKinds, second = round / kKinds % kKinds;
    const int cut = std::vector<int>{0, 1, static_cast<int>(random() % 256), 255}[static_cast<size_t>(round) % 4];
    std::vector<uint8_t> table(256);
    for (int k = 0; k < 256; ++k) table[static_cast<size_t>(k)] = entry(k < cut ? first : second, k, random);
    const int64_t n = round % 2 ? 2048 + random() % 900 : random() % 300;
    std::vector<uint8_t> in(static_cast<size_t>(n) + 1), out(in.size());
    std::ranges::generate(in, [&] { return static_cast<uint8_t>(random()); });
    for (const Target t : {Target::scalar, Target::avx2, best_target()}) {
      if (t > best_target()) continue;
      out.back() = 77;
      look_up_bytes(t, in.data(), out.data(), n, table.data());
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) ASSERT_EQ(out[i], table[in[i]]) << first << second << cut;
      ASSERT_EQ(out.back(), 77);
      std::vector<uint8_t> own = in;
      look_up_bytes(t, own.data(), own.data(), n, table.data());
      ASSERT_TRUE(std::equal(own.begin(), own.end() - 1, out.begin()));
    }
  }
}

}  // namespace
}  // namespace penstock
