// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string_view>
#include <vector>

namespace penstock {
namespace {

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
std::vector<uint8_t> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> b(n);
  for (auto& x : b) x = static_cast<uint8_t>(random());
  return b;
}

TEST(Checksum, Crc32cIsThatOfRfc3720) {
  std::vector<uint8_t> up(32), down(32);
  for (int i = 0; i < 32; ++i) up[i] = i, down[i] = 31 - i;
  for (auto sum : {crc32c, crc32c_by_instruction, crc32c_portable}) {
    EXPECT_EQ(sum(std::vector<uint8_t>(32, 0), 0), 0x8A9136AAu);
    EXPECT_EQ(sum(std::vector<uint8_t>(32, 255), 0), 0x62A8AB43u);
    EXPECT_EQ(sum(up, 0), 0x46DD794Eu);
    EXPECT_EQ(sum(down, 0), 0x113FDB5Cu);
    EXPECT_EQ(sum(bytes_of("123456789"), 0), 0xE3069283u);
    EXPECT_EQ(sum({}, 0), 0u);
  }
}

TEST(Checksum, AllWaysAgreeAtEveryLengthAndInParts) {
  const auto b = random_bytes(1100, 1);
  for (size_t n = 0; n <= b.size(); ++n) {
    const std::span<const uint8_t> all(b.data(), n);
    EXPECT_EQ(crc32c(all), crc32c_portable(all)) << n;
    EXPECT_EQ(crc32c_by_instruction(all), crc32c_portable(all)) << n;
    const size_t cut = n * 2 / 3;
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << n;
  }
}

TEST(Checksum, AllWaysAgreeOnLongBytesThatAreTakenInParts) {
  const auto b = random_bytes(20000, 3);
  for (size_t n : {3071, 3072, 3073, 6143, 6144, 6145, 9216, 12345, 19999, 20000})
    for (size_t from : {0, 1, 5}) {
      const std::span<const uint8_t> all(b.data() + from, n - from);
      EXPECT_EQ(crc32c(all, 0x12345678), crc32c_portable(all, 0x12345678)) << n << " from " << from;
      EXPECT_EQ(crc32c_by_instruction(all, 0x12345678), crc32c_portable(all, 0x12345678)) << n << " from " << from;
    }
}

TEST(Checksum, ContentHashSeesEveryBitAndTheLength) {
  for (size_t n : {1, 7, 8, 63, 64, 65, 1000}) {
    auto b = random_bytes(n, 2);
    std::set<uint64_t> seen{content_hash(b)};
    for (size_t bit = 0; bit < 8 * n; ++bit) {
      b[bit / 8] ^= 1 << bit % 8;
      EXPECT_TRUE(seen.insert(content_hash(b)).second) << n << " bytes, bit " << bit;
      b[bit / 8] ^= 1 << bit % 8;
    }
  }
  std::set<uint64_t> lengths;
  for (size_t n = 0; n < 300; ++n) EXPECT_TRUE(lengths.insert(content_hash(std::vector<uint8_t>(n))).second) << n;
}

TEST(Checksum, ContentHashIsTheSameInEveryBuild) {  // files contain it
  std::vector<uint8_t> b(200);
  for (int i = 0; i < 200; ++i) b[i] = static_cast<uint8_t>(i * 7);
  EXPECT_EQ(content_hash({}), 0xa6540e3ee03d95f1u);
  EXPECT_EQ(content_hash(b), 0x57195e97a3cfcf93u);
}

}  // namespace
}  // namespace penstock
