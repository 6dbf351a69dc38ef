// SPDX-License-Identifier: Apache-2.0
#include "base/near_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace penstock {
namespace {

TEST(NearCores, ReadsListsOfLinux) {
  EXPECT_EQ(numbers_in_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(numbers_in_list("7"), (std::vector<int>{7}));
  for (const char* wrong : {"", "\n", "a", "3-", "3-1", "-1", "1;2", "0-99999999999", "0-65536"})
    EXPECT_TRUE(numbers_in_list(wrong).empty()) << wrong;
}

TEST(NearCores, FindsTheCoresOfADeviceThatThisThreadMayUse) {
  cpu_set_t now;
  ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
  int own = 0;
  while (!CPU_ISSET(own, &now)) ++own;
  const auto devices = std::filesystem::path(testing::TempDir()) / "near_cores";
  std::filesystem::create_directories(devices / "0000:3b:00.0");
  std::ofstream(devices / "0000:3b:00.0" / "local_cpulist") << own << ",60000-60001\n";
  EXPECT_EQ(cores_near("0000:3B:00.0", devices), (std::vector<int>{own}));
  EXPECT_TRUE(cores_near("0000:3c:00.0", devices).empty());
  EXPECT_TRUE(cores_near("", devices).empty());
  EXPECT_TRUE(cores_near("../0000:3b:00.0", devices).empty());
  std::filesystem::remove_all(devices);
}

TEST(NearCores, AThreadAndThoseThatItStartsRunOnTheCores) {
  cpu_set_t before, now;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int own = 0;
  while (!CPU_ISSET(own, &before)) ++own;
  {
    const OnCores nowhere({});
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &before));
    const OnCores absent({60000});  // refused
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&now, &before));
    const OnCores scope({own});
    std::thread([own] {
      cpu_set_t started;
      ASSERT_EQ(sched_getaffinity(0, sizeof started, &started), 0);
      EXPECT_EQ(CPU_COUNT(&started), 1);
      EXPECT_TRUE(CPU_ISSET(own, &started));
    }).join();
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_TRUE(CPU_EQUAL(&now, &before));
}

}  // namespace
}  // namespace penstock
