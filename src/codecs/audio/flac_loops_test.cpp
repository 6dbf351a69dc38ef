// SPDX-License-Identifier: Apache-2.0
// Compares the loops of each instruction set with the plain ones.
#include "codecs/audio/flac_loops.h"

#include <gtest/gtest.h>

#include <random>

#include "codecs/audio/flac_checksums.h"

namespace penstock {

namespace {

std::vector<uint8_t> random_bytes(std::mt19937& random, size_t n, int zeros_of_8) {
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<int>(random() % 8) < zeros_of_8 ? 0 : static_cast<uint8_t>(random());
  return bytes;
}

TEST(FlacLoops, RiceCodesAreTheSame) {
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    const auto bytes = random_bytes(random, random() % 300, static_cast<int>(random() % 9));
    const int k = static_cast<int>(random() % 31), n = static_cast<int>(random() % 200);
    FlacBits one{.bytes = bytes}, two{.bytes = bytes};
    one.take(static_cast<int>(round % 13)), two.take(static_cast<int>(round % 13));
    std::vector<uint32_t> a(n), b(n);
    const bool fits = flac_loops(Target::scalar).take_rice(one, k, a.data(), n);
    ASSERT_EQ(flac_loops(best_target()).take_rice(two, k, b.data(), n), fits);
    if (!fits) continue;
    ASSERT_EQ(a, b);
    ASSERT_EQ(one.at * 8 - one.count, two.at * 8 - two.count);
  }
}

TEST(FlacLoops, PredictionsAreTheSame) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const bool wide = random() % 2, equal = random() % 2;
    const size_t channels = 1 + random() % 8;
    const int length = 1 + static_cast<int>(random() % 300);
    std::vector<std::vector<int32_t>> a(channels), b;
    std::vector<FlacPrediction> first, second;
    for (auto& samples : a) {
      FlacPrediction p{.length = equal ? length : 1 + static_cast<int>(random() % 300)};
      p.order = 1 + static_cast<int>(random() % std::min(p.length, 32));
      p.shift = static_cast<int>(random() % 16);
      samples.resize(p.length);
      for (int32_t& v : samples) v = static_cast<int32_t>(random()) >> (wide ? 8 : 16);
      for (int j = 0; j < p.order; ++j) p.coefficients[j] = static_cast<int32_t>(random()) >> 17;
      first.push_back(p);
    }
    b = a, second = first;
    for (size_t c = 0; c < channels; ++c) first[c].samples = a[c].data(), second[c].samples = b[c].data();
    const FlacLoops &plain = flac_loops(Target::scalar), &best = flac_loops(best_target());
    (wide ? plain.predict_wide : plain.predict)(first);
    (wide ? best.predict_wide : best.predict)(second);
    ASSERT_EQ(a, b);
  }
}

TEST(FlacLoops, SignsAreTheSame) {
  std::mt19937 random(3);
  std::vector<int32_t> a(1000);
  for (int32_t& v : a) v = static_cast<int32_t>(random());
  a[0] = 0, a[1] = 1, a[2] = 2, a[3] = -1;
  std::vector<int32_t> b = a;
  flac_loops(Target::scalar).unfold(a.data(), 1000);
  flac_loops(best_target()).unfold(b.data(), 1000);
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::vector(a.begin(), a.begin() + 4), (std::vector<int32_t>{0, -1, 1, INT32_MIN}));
}

TEST(FlacLoops, ChecksumsAreTheSame) {
  std::mt19937 random(4);
  for (size_t n = 0; n < 700; ++n) {
    const auto bytes = random_bytes(random, n, 0);
    unsigned sum = 0;  // bit by bit
    for (const uint8_t byte : bytes)
      for (int i = 7; i >= 0; --i) sum = (sum << 1 ^ ((sum >> 15 ^ (byte >> i)) & 1 ? 0x8005u : 0)) & 0xFFFF;
    ASSERT_EQ(flac_frame_sum(bytes), sum);
    ASSERT_EQ(flac_frame_sum_portable(bytes), sum);
  }
}

}  // namespace

}  // namespace penstock
