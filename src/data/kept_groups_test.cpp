// SPDX-License-Identifier: Apache-2.0
#include "data/kept_groups.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using Groups = KeptGroups<int>;

// Calls get() and gives what went wrong.
template <class F> std::string error_of_group(Groups& groups, int number, F&& load) {
  try {
    groups.get(number, load);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(KeptGroups, DamagedDataAreTriedOnce) {
  Groups groups(3);
  int tried = 0;
  const auto damaged = [&]() -> Groups::Group {
    ++tried;
    bad_data("damaged");
  };
  EXPECT_FALSE(groups.load_early(7, damaged));
  for (int sample = 0; sample < 5; ++sample) EXPECT_EQ(error_of_group(groups, 7, damaged), "damaged");
  EXPECT_EQ(tried, 1);
}

TEST(KeptGroups, OtherErrorsMayPass) {
  Groups groups(3);
  int tried = 0;
  const auto slow_network = [&]() -> Groups::Group {
    if (++tried < 3) fail(ErrorKind::internal, "no answer");
    return std::make_shared<const int>(5);
  };
  EXPECT_EQ(error_of_group(groups, 7, slow_network), "no answer");
  EXPECT_FALSE(groups.load_early(7, slow_network));
  EXPECT_EQ(*groups.get(7, slow_network), 5);
  EXPECT_EQ(tried, 3);
}

TEST(KeptGroups, ErrorsAreForgottenAsGroupsAre) {
  Groups groups(2);
  int tried = 0;
  const auto damaged = [&]() -> Groups::Group {
    ++tried;
    bad_data("damaged");
  };
  EXPECT_EQ(error_of_group(groups, 0, damaged), "damaged");
  for (int number = 1; number < 3; ++number) groups.get(number, [] { return std::make_shared<const int>(1); });
  EXPECT_EQ(error_of_group(groups, 0, damaged), "damaged");
  EXPECT_EQ(tried, 2);
}

}  // namespace
}  // namespace penstock
