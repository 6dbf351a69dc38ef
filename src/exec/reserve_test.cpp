// SPDX-License-Identifier: Apache-2.0
#include "exec/reserve.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

constexpr int64_t kMs = 1000000;

TEST(Reserve, LetsAnotherThreadWorkWhileOneIsLate) {
  Reserve r;
  r.begin(2);
  int64_t now = 0;
  for (int k = 0; k < 20; ++k) r.begins(0, 1, 2, now), r.ends(0, now += 2 * kMs);  // 1 ms for an item
  r.begins(0, 1, 1, now), r.begins(1, 1, 1, now);
  EXPECT_FALSE(r.lets_work());
  EXPECT_EQ(r.look(now + 7 * kMs), 0);
  EXPECT_EQ(r.look(now + 9 * kMs), 2);
  EXPECT_EQ(r.look(now + 9 * kMs), 0) << "they are known";
  EXPECT_TRUE(r.lets_work());
  r.begins(2, 1, 1, now), r.begins(3, 1, 1, now);
  EXPECT_FALSE(r.lets_work());
  r.ends(0, now + 90 * kMs);
  EXPECT_FALSE(r.lets_work()) << "its place is taken";
  r.ends(2, now + kMs);
  EXPECT_TRUE(r.lets_work());
}

TEST(Reserve, ALateTaskDoesNotChangeWhatIsUsual) {
  Reserve r;
  r.begin(4);
  int64_t now = 0;
  for (int k = 0; k < 400; ++k) r.begins(0, 0, 1, now), r.ends(0, now += k % 200 == 7 ? 100 * kMs : kMs);
  r.begins(0, 0, 1, now);
  EXPECT_EQ(r.look(now + 11 * kMs), 1);
}

TEST(Reserve, StepsThatNobodyHasEndedHaveNoLateTasks) {
  Reserve r;
  r.begin(1);
  r.begins(0, 3, 1, 0);
  EXPECT_EQ(r.look(1000 * kMs), 0);
}

TEST(Reserve, WithoutALimitAllWork) {
  Reserve r;
  EXPECT_FALSE(r.is_kept());
  EXPECT_TRUE(r.lets_work());
}

}  // namespace
}  // namespace penstock
