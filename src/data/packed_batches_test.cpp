// SPDX-License-Identifier: Apache-2.0
#include "data/packed_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/error.h"
#include "data/test_formed_batches.h"

namespace penstock {
namespace {

std::string number_in_words(int64_t i) { return "sample " + std::to_string(i); }

std::vector<float> whole_lengths(size_t n, int most, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> lengths(n);
  for (float& x : lengths) x = static_cast<float>(random() % static_cast<uint32_t>(most + 1));
  return lengths;
}

std::vector<OrderedSample> packed_batch(const PackedBatches& b, uint64_t epoch, int64_t batch, bool shuffled = true) {
  std::vector<OrderedSample> out;
  b.append(5, epoch, shuffled, {batch, batch, false}, out);
  return out;
}

TEST(PackedBatches, GiveEachSampleOnceWithinTheRow) {
  for (const size_t n : {1, 2, 63, 700})
    for (const int64_t window : {1, 16, 5000})
      for (const int64_t most : {1, 5, 300}) {
        const auto lengths = whole_lengths(n, 50, static_cast<uint32_t>(n));
        const PackedBatches b(lengths, {most, 64, window, true}, number_in_words);
        for (const uint64_t epoch : {0, 1, 9}) {
          std::set<int64_t> indices, positions;
          for (int64_t k = 0; k < b.batches(); ++k) {
            const auto batch = packed_batch(b, epoch, k, epoch > 0);
            ASSERT_FALSE(batch.empty());
            EXPECT_LE(batch.size(), static_cast<size_t>(most));
            float row = 0;
            for (const auto& s : batch) {
              row += lengths[static_cast<size_t>(s.index)];
              indices.insert(s.index), positions.insert(s.position);
              EXPECT_LT(s.position, b.samples());
            }
            EXPECT_LE(row, 64);
          }
          EXPECT_EQ(indices.size(), n);
          EXPECT_EQ(positions.size(), n);
        }
      }
}

// The lengths that meet stay, the samples that have them change.
TEST(PackedBatches, MeetOthersOfTheirLengthInEachEpoch) {
  const auto lengths = whole_lengths(2000, 8, 3);
  const PackedBatches b(lengths, {100, 20, 5000, true}, number_in_words);
  EXPECT_GT(b.real_share(), .99);
  int64_t others = 0;
  for (int64_t k = 0; k < b.batches(); ++k) {
    const auto first = packed_batch(b, 0, k), second = packed_batch(b, 1, k);
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(lengths[static_cast<size_t>(first[i].index)], lengths[static_cast<size_t>(second[i].index)]);
      others += first[i].index != second[i].index;
    }
  }
  EXPECT_GT(others, 1900);
}

TEST(PackedBatches, AreInTheGivenOrderWithoutAShuffle) {
  const std::vector<float> lengths{3, 1, 2, 4, 2, 2};
  const PackedBatches b(lengths, {9, 4, 3, false}, number_in_words);
  std::vector<std::vector<int64_t>> got;
  for (int64_t k = 0; k < b.batches(); ++k) {
    got.emplace_back();
    for (const auto& s : packed_batch(b, 0, k, false)) got.back().push_back(s.index);
  }
  EXPECT_EQ(got, (std::vector<std::vector<int64_t>>{{0, 1}, {2}, {3}, {4, 5}}));
  EXPECT_DOUBLE_EQ(b.real_share(), 14. / 16);
}

TEST(PackedBatches, RepeatedBatchesHaveIdsOfTheirOwn) {
  const auto lengths = whole_lengths(100, 9, 2);
  const PackedBatches b(lengths, {7, 12, 50, true}, number_in_words);
  test::expect_ids_of_repetitions(b, 3);
}

TEST(PackedBatches, ReplaceASampleByOneThatIsNotLonger) {
  const auto lengths = whole_lengths(300, 200, 2);
  const PackedBatches b(lengths, {8, 400, 50, true}, number_in_words);
  int64_t others = 0;
  for (int64_t k = 0; k < b.batches(); ++k)
    for (const auto& s : packed_batch(b, 2, k))
      for (const int64_t turn : {0, 3}) {
        const int64_t other = b.instead(5, 2, s.position + turn * b.samples(), 1);
        EXPECT_LE(lengths[static_cast<size_t>(other)], lengths[static_cast<size_t>(s.index)]);
        others += other != s.index;
      }
  EXPECT_GT(others, 500);
}

TEST(PackedBatches, RefuseLengthsThatAreNone) {
  for (const float x : {-1.f, NAN, INFINITY, 4.5f}) {
    std::string said;
    try {
      PackedBatches(std::vector<float>{1, x}, {4, 4, 10, true}, number_in_words);
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_NE(said.find("sample 1"), std::string::npos) << said;
  }
  EXPECT_THROW(PackedBatches({}, {4, 4, 10, true}, number_in_words), Error);
}

TEST(PackedBatches, HashTellsPlansApart) {
  const std::vector<float> lengths{1, 2, 3};
  std::set<uint64_t> hashes;
  for (const PackedSettings& s :
       {PackedSettings{4, 9, 8, true}, {5, 9, 8, true}, {4, 10, 8, true}, {4, 9, 9, true}, {4, 9, 8, false}})
    hashes.insert(PackedBatches(lengths, s, number_in_words).hash());
  hashes.insert(PackedBatches(std::vector<float>{1, 2, 2}, {4, 9, 8, true}, number_in_words).hash());
  EXPECT_EQ(hashes.size(), 6u);
}

}  // namespace
}  // namespace penstock
