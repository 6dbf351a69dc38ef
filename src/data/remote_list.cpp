// SPDX-License-Identifier: Apache-2.0
#include "data/remote_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "data/glob.h"

namespace penstock {

void expand_url(const std::string& url, std::vector<std::string>& out) {
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  const size_t star = http ? std::string::npos : url.find_first_of("*?[");
  if (star == std::string::npos) return out.push_back(url);
  const std::string folder = url.substr(0, url.rfind('/', star) + 1);
  const size_t before = out.size();
  for (const RemoteEntry& object : RemoteStorage::instance().list(folder))
    if (std::string full = folder + object.name;
        ::fnmatch(url.c_str() + folder.size(), object.name.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0)
      out.push_back(std::move(full));
  if (out.size() == before) fail_on(url, ErrorKind::file_missing, "no file matches the pattern");
}

std::vector<std::string> objects_in(const std::string& folder, const std::string& pattern, bool below) {
  const std::string root = folder.ends_with('/') ? folder : folder + "/";
  const GlobFilter filter({pattern}, true);
  std::vector<std::pair<std::string, std::string>> found;  // folder and name
  for (const RemoteEntry& object : RemoteStorage::instance().list(root)) {
    const size_t slash = object.name.find('/');
    const bool inside = slash != std::string::npos;
    std::string name = inside ? object.name.substr(slash + 1) : object.name;
    if (inside == below && !name.empty() && name.find('/') == std::string::npos && filter.matches(name))
      found.emplace_back(inside ? object.name.substr(0, slash + 1) : "", std::move(name));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    const std::string_view x(a.first), y(b.first);  // without their final "/"
    return std::tuple(x.substr(0, x.size() - !x.empty()), a.second) <
           std::tuple(y.substr(0, y.size() - !y.empty()), b.second);
  });
  std::vector<std::string> out;
  for (const auto& [inside, name] : found) out.push_back(root + inside + name);
  return out;
}

}  // namespace penstock
