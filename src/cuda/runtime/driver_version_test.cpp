// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/driver_version.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using Names = std::vector<std::string>;

Names fitting(int driver) {
  const auto fit = names_that_fit({"libnvrtc.so.13", "libnvrtc.so.12"}, driver);
  return {fit.begin(), fit.end()};
}

TEST(DriverVersion, LibrariesAreNotNewerThanTheDriver) {
  EXPECT_EQ(fitting(13020), (Names{"libnvrtc.so.13", "libnvrtc.so.12"}));
  EXPECT_EQ(fitting(14000), (Names{"libnvrtc.so.13", "libnvrtc.so.12"}));
  EXPECT_EQ(fitting(12000), (Names{"libnvrtc.so.12"}));
  EXPECT_EQ(fitting(12080), (Names{"libnvrtc.so.12"}));
  EXPECT_EQ(fitting(11040), Names{});
  EXPECT_EQ(fitting(0), (Names{"libnvrtc.so.13", "libnvrtc.so.12"})) << "a machine without a driver compiles too";
}

TEST(DriverVersion, IsSaidAsPeopleWriteIt) {
  EXPECT_EQ(version_text(12040), "12.4");
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_STREQ(extra_for(12080), "penstock[cuda12]");
  EXPECT_STREQ(extra_for(13000), "penstock[cuda13]");
  EXPECT_STREQ(extra_for(0), "penstock[cuda13]");
  EXPECT_EQ(install_advice(12000), "pip install penstock[cuda12], or name its folder in PENSTOCK_NVIDIA_LIBS");
  EXPECT_STREQ(driver_release(12), "525");
  EXPECT_STREQ(driver_release(13), "580");
}

}  // namespace
}  // namespace penstock
