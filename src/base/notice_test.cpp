// SPDX-License-Identifier: Apache-2.0
#include "base/notice.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Notices, ManyOfOneKindDoNotSilenceAnother) {
  take_notices();
  for (int i = 0; i < 200; ++i) notice("/a/file" + std::to_string(i) + ".mp4: it lacks " + std::to_string(2 * i));
  for (int i = 0; i < 2; ++i) notice("another thing");
  const std::vector<std::string> told = take_notices();
  ASSERT_EQ(told.size(), 65u);
  EXPECT_EQ(told[0], "/a/file0.mp4: it lacks 0");
  EXPECT_EQ(told[63], "/a/file63.mp4: it lacks 126");
  EXPECT_EQ(told[64], "another thing");
  EXPECT_TRUE(take_notices().empty());
}

}  // namespace
}  // namespace penstock
