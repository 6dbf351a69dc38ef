// SPDX-License-Identifier: Apache-2.0
#include "data/length_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "data/test_formed_batches.h"

namespace penstock {
namespace {

std::string numbered(int64_t i) { return "sample " + std::to_string(i); }

std::vector<float> uniform_lengths(size_t n, float low, float high, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> length(low, high);
  std::vector<float> lengths(n);
  for (float& x : lengths) x = length(random);
  return lengths;
}

LengthBuckets buckets_of(const std::vector<float>& lengths, const BucketSettings& s,
                         const std::vector<int64_t>& groups = {}) {
  return LengthBuckets(lengths, groups, s, numbered);
}

std::vector<OrderedSample> batch_of(const LengthBuckets& b, uint64_t epoch, int64_t batch, bool shuffled = true) {
  std::vector<OrderedSample> out;
  b.append(5, epoch, shuffled, {batch, batch, false}, out);
  return out;
}

TEST(SortedByLength, IsAStableSort) {
  for (const size_t n : {0, 1, 2, 255, 3001}) {
    std::vector<float> lengths = uniform_lengths(n, 0, 40, 3);
    std::vector<int64_t> groups(n);
    for (size_t i = 0; i < n; ++i) lengths[i] = i % 3 ? std::floor(lengths[i]) : lengths[i], groups[i] = i * 7 % 5;
    for (const auto& g : {std::vector<int64_t>{}, groups}) {
      std::vector<uint32_t> want(n);
      for (uint32_t i = 0; i < n; ++i) want[i] = i;
      std::stable_sort(want.begin(), want.end(), [&](uint32_t a, uint32_t b) {
        return !g.empty() && g[a] != g[b] ? g[a] < g[b] : lengths[a] > lengths[b];
      });
      EXPECT_EQ(sorted_by_length(lengths, g), want);
    }
  }
  EXPECT_EQ(sorted_by_length(std::vector<float>{0.f, -0.f, 1e-40f, 3e38f, 0.f}, {}),
            (std::vector<uint32_t>{3, 2, 0, 1, 4}));
}

TEST(LengthBuckets, GiveEachSampleOnceWithinTheCost) {
  for (const size_t n : {1, 2, 7, 100, 999, 5000})
    for (const float cost : {0.f, 4.f, 17.5f, 400.f})
      for (const float width : {0.f, .1f, 1.f})
        for (const int64_t most : {1, 16, 300}) {
          const auto lengths = uniform_lengths(n, .4f, 4, static_cast<uint32_t>(n));
          const auto b = buckets_of(lengths, {most, cost, width});
          ASSERT_EQ(b.samples(), static_cast<int64_t>(n));
          for (const uint64_t epoch : {0, 1}) {
            std::set<int64_t> indices, positions;
            for (int64_t k = 0; k < b.batches(); ++k) {
              const auto batch = batch_of(b, epoch, k, epoch == 0);
              float longest = 0;
              for (const auto& s : batch) {
                longest = std::max(longest, lengths[static_cast<size_t>(s.index)]);
                indices.insert(s.index), positions.insert(s.position);
                EXPECT_LT(s.position, b.samples());
              }
              EXPECT_GE(batch.size(), 1u);
              EXPECT_LE(batch.size(), static_cast<size_t>(most));
              const float most_cost = cost > 0 ? cost : INFINITY;
              EXPECT_LE(longest * static_cast<float>(batch.size()), most_cost);
            }
            EXPECT_EQ(indices.size(), n);
            EXPECT_EQ(positions.size(), n);
          }
        }
}

TEST(LengthBuckets, PadLittle) {
  const auto lengths = uniform_lengths(4000, .4f, 4, 1);
  const auto b = buckets_of(lengths, {256, 40, .1f});
  double real = 0, padded = 0;
  int64_t full = 0;
  for (int64_t k = 0; k < b.batches(); ++k) {
    float longest = 0;
    const auto batch = batch_of(b, 3, k);
    for (const auto& s : batch) longest = std::max(longest, lengths[s.index]), real += lengths[s.index];
    padded += longest * static_cast<double>(batch.size());
    full += longest * static_cast<double>(batch.size()) > 32;
  }
  EXPECT_GT(real / padded, .95);
  EXPECT_GE(real / padded, b.real_share());
  EXPECT_GT(b.real_share(), .93);
  EXPECT_GE(full, b.batches() - 2);
}

// A few long samples among many short ones do not fill their batches up with short ones.
TEST(LengthBuckets, DoNotPadShortSamplesToRareLongOnes) {
  std::vector<float> lengths(1000, 1);
  lengths[10] = 40, lengths[20] = 39, lengths[30] = 12;
  const auto b = buckets_of(lengths, {32, 400, .1f});
  const auto first = batch_of(b, 0, 0), second = batch_of(b, 0, 1);
  EXPECT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].index, 30);
  EXPECT_EQ(b.batches(), 2 + 32);
}

TEST(LengthBuckets, MeetInOtherBatchesInEachEpoch) {
  const auto lengths = uniform_lengths(20000, 1, 1.05f, 2);
  const auto b = buckets_of(lengths, {50, 0, .1f});
  std::set<std::set<int64_t>> seen;
  for (const uint64_t epoch : {0, 1, 2})
    for (int64_t k = 0; k < b.batches(); ++k) {
      std::set<int64_t> batch;
      for (const auto& s : batch_of(b, epoch, k)) batch.insert(s.index);
      seen.insert(batch);
    }
  EXPECT_EQ(seen.size(), static_cast<size_t>(3 * b.batches()));
}

TEST(LengthBuckets, HaveOneGroupInABatch) {
  const std::vector<float> lengths(101, 2);
  std::vector<int64_t> groups(101);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int64_t>(i % 3) - 1;
  const auto b = buckets_of(lengths, {8, 0, .1f}, groups);
  EXPECT_EQ(b.batches(), 5 + 5 + 5);
  for (int64_t k = 0; k < b.batches(); ++k) {
    std::set<int64_t> here;
    for (const auto& s : batch_of(b, 0, k)) here.insert(groups[static_cast<size_t>(s.index)]);
    EXPECT_EQ(here.size(), 1u);
  }
}

TEST(LengthBuckets, RepeatedBatchesHaveIdsOfTheirOwn) {
  const auto lengths = uniform_lengths(100, 1, 3, 2);
  const auto b = buckets_of(lengths, {7, 12, .1f});
  test::expect_ids_of_repetitions(b, 4);
}

TEST(LengthBuckets, ReplaceASampleByOneOfItsBucket) {
  const auto lengths = uniform_lengths(1000, 1, 10, 2);
  const auto b = buckets_of(lengths, {8, 0, .1f});
  for (int64_t k = 0; k < b.batches(); ++k)
    for (const auto& s : batch_of(b, 2, k))
      for (const int64_t turn : {0, 3}) {
        const int64_t other = b.instead(5, 2, s.position + turn * b.samples(), 1);
        EXPECT_NEAR(lengths[static_cast<size_t>(other)] / lengths[static_cast<size_t>(s.index)], 1, .3);
      }
}

TEST(LengthBuckets, RefuseLengthsThatAreNone) {
  for (const float x : {-1.f, NAN, INFINITY, 4.5f}) {
    std::string said;
    try {
      buckets_of({1, x}, {4, 4, .1f});
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_NE(said.find("sample 1"), std::string::npos) << said;
  }
  EXPECT_THROW(buckets_of({}, {4, 4, .1f}), Error);
  EXPECT_EQ(buckets_of({0, 0, 0}, {2, 4, .1f}).batches(), 2);
}

TEST(LengthBuckets, HashTellsPlansApart) {
  const std::vector<float> lengths{1, 2, 3};
  std::set<uint64_t> hashes;
  for (const BucketSettings& s : {BucketSettings{4, 9, .1f}, {5, 9, .1f}, {4, 10, .1f}, {4, 9, .2f}})
    hashes.insert(buckets_of(lengths, s).hash());
  hashes.insert(buckets_of({1, 2, 2}, {4, 9, .1f}).hash());
  hashes.insert(buckets_of(lengths, {4, 9, .1f}, {0, 0, 1}).hash());
  EXPECT_EQ(hashes.size(), 6u);
}

// Batches are dealt as samples are: 1, then 3, then 2 ranks read each batch of the epoch once.
TEST(LengthBuckets, AreReadOnceByRanksThatComeAndGo) {
  const auto lengths = uniform_lengths(500, 1, 4, 2);
  const auto b = buckets_of(lengths, {16, 30, .1f});
  OrderSettings s{.size = b.batches(), .seed = 5, .shuffle = Shuffle::every_epoch, .batches = b.hash()};
  std::multiset<int64_t> seen;
  ReaderState state;
  state.fingerprint = SampleOrder(s).fingerprint();
  for (const auto& [ranks, steps] : {std::pair{1, 3}, {3, 4}, {2, 1000}}) {
    ReaderState after;
    for (int rank = 0; rank < ranks; ++rank) {
      s.num_shards = ranks, s.shard_id = rank;
      const SampleOrder order(s, ReaderState::from_json(state.to_json()));
      const int64_t taken = std::min<int64_t>(steps, order.own_length(0));
      for (int64_t k = 0; k < taken; ++k) {
        std::vector<OrderedSample> batch;
        b.append(s.seed, 0, true, order.at(0, k), batch);
        for (const auto& sample : batch) seen.insert(sample.index);
      }
      after = order.state_at(0, taken);
    }
    state = after;
  }
  EXPECT_EQ(seen.size(), 500u);
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 500u);
  OrderSettings other = s;
  other.batches ^= 2;
  EXPECT_THROW(SampleOrder(other, state), Error);
}

}  // namespace
}  // namespace penstock
