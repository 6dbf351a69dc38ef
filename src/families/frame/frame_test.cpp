// SPDX-License-Identifier: Apache-2.0
// The rows of frames give the bytes of their slow twin, for each processor target.
#include "families/frame/frame.h"

#include <gtest/gtest.h>

#include "families/frame/test_frames.h"

namespace penstock::frame {
namespace {

template <class T, int from, int to> void expect_twins_elements(int64_t widest, std::mt19937& random) {
  with_test_row<T, from, to>(widest, random, [&](const FrameRow& row, TestSide<T>& out) {
    const std::vector<T> before = out.memory;
    frame_twin<T, from, to>(row, 0, row.height);
    const std::vector<T> expected = out.memory;
    for (int t = 0; t <= static_cast<int>(best_target()); ++t) {
      std::copy(before.begin(), before.end(), out.memory.begin());
      frame_rows(static_cast<Target>(t), dtype_of<T>, row);
      ASSERT_EQ(out.memory, expected) << from << " to " << to << ", " << row.height << " x " << row.width << ", target "
                                      << t;
    }
  });
}

TEST(Frame, RowsGiveTheTwinsElements) {
  std::mt19937 random(1);
  for (int round = 0; round < 60 && !testing::Test::HasFatalFailure(); ++round) {
    const int64_t widest = round % 10 == 0 ? 1500 : 100;
    for (int from = colors; from <= bits555; ++from)
      for (int to = colors; to <= bits555; ++to)
        with_kinds(from, to, [&]<int source, int target>() {
          expect_twins_elements<uint8_t, source, target>(widest, random);
          if constexpr (source <= gray && target <= gray) {
            expect_twins_elements<uint16_t, source, target>(widest, random);
            expect_twins_elements<float, source, target>(widest, random);
          }
        });
  }
}

}  // namespace
}  // namespace penstock::frame
