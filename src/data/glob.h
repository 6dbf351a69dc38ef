// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

// Shell patterns (*, ?, [a-z], \x) for a name. "*" also matches a leading dot.
class GlobFilter {
 public:
  GlobFilter(const std::vector<std::string>& patterns, bool case_sensitive);
  bool matches(const std::string& name) const;  // matches at least one pattern

 private:
  bool ends_with(std::string_view name, std::string_view suffix) const;

  bool case_sensitive_;
  std::vector<std::string> suffixes_;  // from patterns like "*.jpg", which are nearly all: ten times as fast
  std::vector<std::string> patterns_;  // the others
};

}  // namespace penstock
