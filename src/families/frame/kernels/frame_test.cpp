// SPDX-License-Identifier: Apache-2.0
// The kernel of frames, as ordinary C++, gives the bytes of its slow twin, aligned or not.
#include "emulated_gpu/launch_rows.h"
//
#include <gtest/gtest.h>

#include "families/frame/test_frames.h"

namespace penstock::frame {
namespace {

template <class T, int from, int to> void compare_kernel(std::mt19937& random) {
  with_test_row<T, from, to>(60, random, [&](const FrameRow& row, TestSide<T>& out) {
    const std::vector<T> before = out.memory;
    frame_twin<T, from, to>(row, 0, row.height);
    const std::vector<T> expected = out.memory;
    std::copy(before.begin(), before.end(), out.memory.begin());
    const std::vector<FrameRow> rows{row};
    const std::vector<int64_t> work{frame_units(row)};
    whole::launch<FrameRow>(rows, work, whole::kThreads, frame<T, from, to>);
    ASSERT_EQ(out.memory, expected) << from << " to " << to << ", " << row.height << " x " << row.width;
  });
}

TEST(FrameKernel, GivesTheTwinsElements) {
  std::mt19937 random(2);
  for (int round = 0; round < 30 && !testing::Test::HasFatalFailure(); ++round)
    for (int from = colors; from <= bits555; ++from)
      for (int to = colors; to <= bits555; ++to)
        with_kinds(from, to, [&]<int source, int target>() {
          compare_kernel<uint8_t, source, target>(random);
          if constexpr (source <= gray && target <= gray) {
            compare_kernel<uint16_t, source, target>(random);
            compare_kernel<float, source, target>(random);
          }
        });
}

}  // namespace
}  // namespace penstock::frame
