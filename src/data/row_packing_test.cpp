// SPDX-License-Identifier: Apache-2.0
#include "data/row_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace penstock {
namespace {

TEST(PackRows, PlaceEachSampleOnceInTheFirstRowWithRoom) {
  std::mt19937 random(1);
  for (const size_t n : {0, 1, 2, 63, 1000})
    for (const int64_t window : {1, 7, 64, 5000}) {
      std::vector<uint32_t> lengths(n);
      for (auto& x : lengths) x = random() % 101;
      const PackedRows rows = pack_rows(lengths, 100, window, 3);
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
      EXPECT_EQ(pack_rows(lengths, 100, window, 3).samples, rows.samples);
      if (n == 1000) {
        EXPECT_NE(pack_rows(lengths, 100, window, 4).samples, rows.samples);
      }
    }
}

// All in one window: first fit from the longest to the shortest, by the definition.
TEST(PackRows, AreThoseOfFirstFit) {
  const std::vector<uint32_t> lengths{5, 9, 3, 3, 7, 1, 2, 6, 4, 8};
  const PackedRows rows = pack_rows(lengths, 10, 100, 0);
  std::vector<std::vector<uint32_t>> got;
  for (size_t r = 0; r + 1 < rows.first.size(); ++r) {
    got.emplace_back();
    for (int64_t k = rows.first[r]; k < rows.first[r + 1]; ++k) got.back().push_back(lengths[rows.samples[k]]);
  }
  EXPECT_EQ(got, (std::vector<std::vector<uint32_t>>{{9, 1}, {8, 2}, {7, 3}, {6, 4}, {5, 3}}));
}

TEST(PackRows, RefuseWhatDoesNotFit) {
  EXPECT_THROW(pack_rows(std::vector<uint32_t>{3, 11}, 10, 4, 0), Error);
  EXPECT_THROW(pack_rows(std::vector<uint32_t>{3}, 10, 0, 0), Error);
}

}  // namespace
}  // namespace penstock
