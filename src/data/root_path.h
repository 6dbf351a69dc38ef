// SPDX-License-Identifier: Apache-2.0
// Checks names in a list from another program: they must stay below the folder that the reader was given.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/remote_client.h"
#include "data/storage.h"

namespace penstock {

// Whether the name leads out of the folder that it is relative to; only ".." counts, links are followed.
inline bool leaves_its_folder(std::string_view name) {
  int depth = 0;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if (part == "..") --depth;
    else if (!part.empty() && part != ".") ++depth;
    if (depth < 0) return true;
    at = end + 1;
  }
  return false;
}

// Why `name` from a list must not be read; "" if it may. `root`: the folder or URL that the caller named, "" if
// there is none. A URL needs a root that it begins with: a list must not make this machine contact arbitrary servers.
inline std::string why_outside(const std::string& root, std::string_view name) {
  namespace fs = std::filesystem;
  if (is_url(name)) {
    const std::string folder = root.ends_with('/') ? root : root + '/';
    const bool below = !root.empty() && name.starts_with(folder) && !leaves_its_folder(name.substr(folder.size()));
    return below ? "" : "is a URL outside the root";
  }
  if (root.empty()) return {};
  bool below = !leaves_its_folder(name);
  if (name.starts_with('/')) {
    const fs::path rest = fs::path(name).lexically_relative(fs::absolute(root).lexically_normal());
    below = !rest.empty() && !leaves_its_folder(rest.native());
  }
  return below ? "" : "is outside file_root";
}

// path_in(base, name), if the name may be read. `where`: the list, for the error; `place`: "line 3".
inline std::string path_below(const std::string& base, const std::string& root, std::string_view name, bool allowed,
                              const std::string& where, const std::string& place) {
  if (!allowed)
    if (const std::string why = why_outside(root, name); !why.empty())
      fail_on(where, ErrorKind::data, "{}: \"{}\" {}; allow_outside_root=True reads it", place, name.substr(0, 200),
              why);
  return path_in(base, name);
}

constexpr const char* kAllowOutsideText =
    "Read what a list names outside file_root (absolute paths, \"..\") and URLs that do not begin with it; otherwise "
    "such a name is a DataError. A text list without file_root may name any path, but no URL of another server. "
    "Symbolic links are always followed.";

}  // namespace penstock
