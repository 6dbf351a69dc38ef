// SPDX-License-Identifier: Apache-2.0
#include "data/glob.h"

#include <fnmatch.h>

namespace penstock {

GlobFilter::GlobFilter(const std::vector<std::string>& patterns, bool case_sensitive)
    : case_sensitive_(case_sensitive) {
  for (const auto& p : patterns) {
    const bool suffix = p.size() > 1 && p[0] == '*' && p.find_first_of("*?[\\", 1) == std::string::npos;
    if (suffix) suffixes_.push_back(p.substr(1));
    else patterns_.push_back(p);
  }
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool GlobFilter::ends_with(std::string_view name, std::string_view suffix) const {
  if (name.size() < suffix.size()) return false;
  name.remove_prefix(name.size() - suffix.size());
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] != suffix[i] && (case_sensitive_ || lower(name[i]) != lower(suffix[i]))) return false;
  return true;
}

bool GlobFilter::matches(const std::string& name) const {
  for (const auto& s : suffixes_)
    if (ends_with(name, s)) return true;
  for (const auto& p : patterns_)
    if (::fnmatch(p.c_str(), name.c_str(), case_sensitive_ ? 0 : FNM_CASEFOLD) == 0) return true;
  return false;
}

}  // namespace penstock
