// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock {
namespace {

// The settings of the table, by their numbers.
template <size_t... I>
std::vector<Setting> all_settings(std::index_sequence<I...>) {
  return {Setting(kSettings[I].name.data())...};
}

// An empty name of a library would open the program itself.
TEST(Settings, AnEmptyValueIsAsGoodAsNone) {
  for (const Setting& s : all_settings(std::make_index_sequence<std::size(kSettings)>())) {
    const char* now = s.as_given();
    const std::string before = now ? now : "";
    ::setenv(s.name(), "", 1);
    EXPECT_EQ(s.value(), nullptr) << s.name();
    EXPECT_EQ(s.text(), "") << s.name();
    EXPECT_STREQ(s.as_given(), "") << s.name();
    ::setenv(s.name(), "off", 1);
    EXPECT_STREQ(s.value(), "off") << s.name();
    EXPECT_EQ(s.text(), "off") << s.name();
    ::unsetenv(s.name());
    EXPECT_EQ(s.value(), nullptr) << s.name();
    EXPECT_EQ(s.as_given(), nullptr) << s.name();
    if (now) ::setenv(s.name(), before.c_str(), 1);
  }
}

}  // namespace
}  // namespace penstock
