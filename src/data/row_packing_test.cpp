// SPDX-License-Identifier: Apache-2.0
#include "data/row_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace penstock {
namespace {

PackedRows rows_of(const std::vector<uint32_t>& lengths, int64_t row_length, int64_t window,
                   std::optional<uint64_t> seed, int64_t most = INT64_MAX) {
  return pack_rows(std::span<const uint32_t>(lengths), {static_cast<double>(row_length), window, most, seed});
}

std::vector<std::vector<uint32_t>> lengths_by_row(const PackedRows& rows, const std::vector<uint32_t>& lengths) {
  std::vector<std::vector<uint32_t>> got;
  for (size_t r = 0; r + 1 < rows.first.size(); ++r) {
    got.emplace_back();
    for (int64_t k = rows.first[r]; k < rows.first[r + 1]; ++k) got.back().push_back(lengths[rows.samples[k]]);
  }
  return got;
}

TEST(PackRows, PlaceEachSampleOnceInTheFirstRowWithRoom) {
  std::mt19937 random(1);
  for (const size_t n : {0, 1, 2, 63, 1000})
    for (const int64_t window : {1, 7, 64, 5000}) {
      std::vector<uint32_t> lengths(n);
      for (auto& x : lengths) x = random() % 101;
      const PackedRows rows = rows_of(lengths, 100, window, 3);
      std::vector<uint32_t> all = rows.samples;
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), n);
      for (size_t i = 0; i < n; ++i) EXPECT_EQ(all[i], i);
      EXPECT_EQ(rows.first.front(), 0);
      EXPECT_EQ(rows.first.back(), static_cast<int64_t>(n));
      int64_t elements = 0;
      for (size_t r = 0; r + 1 < rows.first.size(); ++r) {
        int64_t length = 0;
        ASSERT_LT(rows.first[r], rows.first[r + 1]);
        for (int64_t k = rows.first[r]; k < rows.first[r + 1]; ++k) length += lengths[rows.samples[k]];
        EXPECT_LE(length, 100);
        elements += length;
      }
      if (n == 1000 && window == 5000) {
        EXPECT_GT(static_cast<double>(elements) / (100. * static_cast<double>(rows.first.size() - 1)), .97);
      }
      EXPECT_EQ(rows_of(lengths, 100, window, 3).samples, rows.samples);
      if (n == 1000) {
        EXPECT_NE(rows_of(lengths, 100, window, 4).samples, rows.samples);
      }
    }
}

// All in one window: first fit from the longest to the shortest, by the definition.
TEST(PackRows, AreThoseOfFirstFit) {
  const std::vector<uint32_t> lengths{5, 9, 3, 3, 7, 1, 2, 6, 4, 8};
  using Rows = std::vector<std::vector<uint32_t>>;
  EXPECT_EQ(lengths_by_row(rows_of(lengths, 10, 100, 0), lengths), (Rows{{9, 1}, {8, 2}, {7, 3}, {6, 4}, {5, 3}}));
  EXPECT_EQ(lengths_by_row(rows_of(lengths, 10, 5, std::nullopt), lengths),
            (Rows{{9}, {7, 3}, {5, 3}, {8, 2}, {6, 4}, {1}}));
  EXPECT_EQ(lengths_by_row(rows_of(lengths, 20, 100, {}, 2), lengths), (Rows{{9, 8}, {7, 6}, {5, 4}, {3, 3}, {2, 1}}));
  const std::vector<float> parts{.5f, .25f, .75f, .5f};
  EXPECT_EQ(pack_rows(std::span<const float>(parts), {1, 100, 4, {}}).samples, (std::vector<uint32_t>{2, 1, 0, 3}));
}

// A row that is full of samples takes none without elements.
TEST(PackRows, HoldNoMoreSamplesThanTheyMay) {
  const std::vector<uint32_t> lengths(7, 0);
  EXPECT_EQ(rows_of(lengths, 10, 100, {}, 3).first, (std::vector<int64_t>{0, 3, 6, 7}));
}

TEST(PackRows, RefuseWhatDoesNotFit) {
  EXPECT_THROW(rows_of({3, 11}, 10, 4, 0), Error);
  EXPECT_THROW(rows_of({3}, 10, 0, 0), Error);
  EXPECT_THROW(rows_of({3}, 10, 4, 0, 0), Error);
  EXPECT_THROW(pack_rows(std::span<const float>(std::vector<float>{NAN}), {1, 4, 4, {}}), Error);
}

}  // namespace
}  // namespace penstock
