// SPDX-License-Identifier: Apache-2.0
#include "data/named_files.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "data/glob.h"
#include "data/hash.h"
#include "data/remote_list.h"
#include "data/root_path.h"
#include "data/storage.h"

namespace penstock {

namespace fs = std::filesystem;

std::vector<std::string> list_named_files(const NamedFiles& a) {
  const int ways =
      !a.file_list.empty() + !a.files.empty() + (!a.file_root.empty() && a.file_list.empty() && a.files.empty());
  if (ways != 1) bad_argument("give exactly one of file_root, file_list and files");
  std::vector<std::string> out;
  for (const auto& f : a.files) out.push_back(path_in(a.file_root, f));
  if (!a.file_list.empty()) {
    std::vector<uint8_t> text;
    read_file(a.file_list, text);
    std::istringstream lines(std::string(text.begin(), text.end()));
    const std::string root = a.file_root.empty() ? fs::path(a.file_list).parent_path().string() : a.file_root;
    const std::string bounds = a.file_root.empty() && is_url(a.file_list) ? root : a.file_root;
    int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (line.empty()) continue;
      out.push_back(path_below(root, bounds, line, a.allow_outside_root, a.file_list, fmt::format("line {}", number)));
    }
  }
  if (a.files.empty() && a.file_list.empty()) {
    const GlobFilter filter({a.file_filter}, true);
    const bool remote = is_url(a.file_root);
    const auto list = [&](const std::string& folder, bool files) {
      std::vector<std::string> found;
      try {
        for (const auto& entry : fs::directory_iterator(folder))
          if (files ? !entry.is_directory() && filter.matches(entry.path().filename()) : entry.is_directory())
            found.push_back(path_in(folder, entry.path().filename().native()));
      } catch (const fs::filesystem_error& e) {
        fail_with_errno(folder, "cannot list the folder", e.code().value());
      }
      std::sort(found.begin(), found.end());
      return found;
    };
    out = remote ? objects_in(a.file_root, a.file_filter, false) : list(a.file_root, true);
    const auto below = remote ? objects_in(a.file_root, a.file_filter, true) : std::vector<std::string>{};
    out.insert(out.end(), below.begin(), below.end());
    for (const auto& folder : remote ? std::vector<std::string>{} : list(a.file_root, false))
      for (const auto& file : list(folder, true)) out.push_back(file);
  }
  if (out.empty()) fail_on(a.file_root + a.file_list, ErrorKind::data, "no file matches \"{}\"", a.file_filter);
  return out;
}

uint64_t hash_of_names(const std::vector<std::string>& files) {
  uint64_t hash = 0;
  for (const auto& f : files) hash = hash_bytes(fs::path(f).filename().native(), hash);
  return hash;
}

}  // namespace penstock
