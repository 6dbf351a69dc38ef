// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <gtest/gtest.h>

#include <thread>

namespace penstock {
namespace {

struct Told {
  int64_t done, total;
  bool ended;
};
std::vector<Told> told;

TEST(Progress, TellsLongWorkAndItsEnd) {
  told.clear();
  const auto report = [](const ProgressState& s) { told.push_back({s.done, s.total, s.ended}); };
  set_progress_report(report, std::chrono::hours(1));
  {
    Progress quick("quick", "file", 1000);
    for (int i = 0; i < 1000; ++i) quick.add(1);
    quick.look();
  }
  EXPECT_TRUE(told.empty());
  set_progress_report(report, std::chrono::milliseconds(20));
  {
    Progress slow("slow", "file", 100);
    slow.add(40);
    std::this_thread::sleep_for(std::chrono::milliseconds(21));
    slow.look();
    ASSERT_EQ(told.size(), 1u);
    slow.reach(90);
  }
  set_progress_report(nullptr);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].done, 40);
  EXPECT_EQ(told[0].total, 100);
  EXPECT_FALSE(told[0].ended);
  EXPECT_EQ(told[1].done, 90);
  EXPECT_TRUE(told[1].ended);
}

}  // namespace
}  // namespace penstock
