// SPDX-License-Identifier: Apache-2.0
#include "data/read_ahead.h"

#include <gtest/gtest.h>

#include <random>

namespace penstock {
namespace {

std::string text(const std::vector<ByteRange>& ranges) {
  std::string s;
  for (const ByteRange& r : ranges)
    s += fmt::format("{}{}+{}", s.empty() ? "" : " ", r.path + ":" + std::to_string(r.offset), r.length);
  return s;
}

TEST(JoinedRanges, NeighborsOfAFileBecomeOneRead) {
  EXPECT_EQ(text(joined_ranges({}, 10)), "");
  EXPECT_EQ(text(joined_ranges({{"a", 50, 5}, {"a", 0, 20}, {"a", 30, 10}, {"a", 66, 1}}, 10)), "a:0+55 a:66+1");
  EXPECT_EQ(text(joined_ranges({{"a", 0, 100}, {"a", 20, 10}, {"a", 105, 5}}, 5)), "a:0+110");
}

TEST(JoinedRanges, FilesKeepTheOrderOfTheirFirstRange) {
  EXPECT_EQ(text(joined_ranges({{"b", 9, 1}, {"a", 5, 1}, {"b", 0, 1}, {"a", 6, 1}}, 0)), "b:0+1 b:9+1 a:5+2");
}

TEST(JoinedRanges, WholeFilesStandForTheirParts) {
  EXPECT_EQ(text(joined_ranges({{"a", 0, -1}, {"b", 0, -1}, {"a", 7, 3}}, 1)), "a:0+-1 b:0+-1");
  EXPECT_EQ(text(joined_ranges({{"a", 0, 4}, {"a", 2, -1}, {"a", 7, 3}}, 1)), "a:0+4 a:2+-1");
}

TEST(JoinedRanges, CoverEachByteThatWasAskedFor) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ByteRange> asked;
    for (int i = 0; i < 30; ++i)
      asked.push_back(
          {i % 3 ? "a" : "b", static_cast<int64_t>(random() % 500), static_cast<int64_t>(1 + random() % 40)});
    const auto joined = joined_ranges(asked, round % 9);
    for (const ByteRange& r : asked)
      EXPECT_EQ(std::count_if(joined.begin(), joined.end(),
                              [&](const ByteRange& j) {
                                return j.path == r.path && j.offset <= r.offset &&
                                       j.offset + j.length >= r.offset + r.length;
                              }),
                1);
    for (size_t i = 1; i < joined.size(); ++i)
      if (joined[i].path == joined[i - 1].path) {
        EXPECT_GT(joined[i].offset, joined[i - 1].offset + joined[i - 1].length + round % 9);
      }
  }
}

}  // namespace
}  // namespace penstock
