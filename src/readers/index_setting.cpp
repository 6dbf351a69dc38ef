// SPDX-License-Identifier: Apache-2.0
#include "readers/index_setting.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/settings.h"
#include "data/hash.h"
#include "data/remote_client.h"

namespace penstock {

namespace fs = std::filesystem;

void check_index_option(const std::string& option) {
  static const std::vector<std::string> words{"off", "read", "auto"};
  if (option.empty() || std::find(words.begin(), words.end(), option) != words.end()) return;
  if (option.find('\0') != std::string::npos) bad_argument("entropy_index: the path contains a zero byte");
  if (option.find_first_of("/.") == std::string::npos)
    bad_argument("entropy_index must be \"off\", \"read\", \"auto\" or the path of a file, got \"{}\"{}", option,
                 did_you_mean(option, words));
}

std::string index_path(const std::string& cache, const std::string& data_set) {
  std::error_code ignored;
  fs::path folder = is_url(data_set) ? fs::path(data_set) : fs::absolute(data_set, ignored).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto file_of = [&](const fs::path& set) {
    std::string name = set.filename();
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
    return fmt::format("{}/entropy_index/{}-{:016x}.index", cache, name.substr(0, 60), hash_bytes(set.native()));
  };
  for (fs::path set = folder;; set = set.parent_path()) {
    if (const std::string file = file_of(set); fs::exists(file, ignored)) return file;
    if (set == set.parent_path()) return file_of(folder);
  }
}

int64_t index_limit() {
  const std::string text(Setting("PENSTOCK_ENTROPY_INDEX_LIMIT").text());
  if (text.empty()) return kDefaultIndexLimit;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const int shift = unit == "" ? 0 : unit == "k" || unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (end == text.c_str() || shift < 0 || !(number >= 0 && number < 1e12))
    bad_argument("PENSTOCK_ENTROPY_INDEX_LIMIT must be a number of bytes such as 500M or 2G, got \"{}\"", text);
  return static_cast<int64_t>(number * static_cast<double>(int64_t{1} << shift));
}

IndexSetting open_indexes(const std::string& given, const std::string& data_set) {
  std::string option = given.empty() ? std::string(Setting("PENSTOCK_ENTROPY_INDEX").text()) : given;
  if (option.empty()) option = "auto";
  check_index_option(option);
  IndexSetting s;
  if (option == "off") return s;
  s.use = option == "read" ? IndexUse::read : IndexUse::make;
  IndexStoreOptions o;
  o.limit = index_limit();
  std::error_code ignored;
  if (option == "read" || option == "auto") {
    const std::string cache = cache_folder();
    if (cache.empty() || data_set.empty()) return s;
    o.private_file = true;
    option = index_path(cache, data_set);
  } else if (fs::is_directory(option, ignored)) {
    option += "/penstock.index";
  } else if (const fs::path folder = fs::path(option).parent_path();
             !folder.empty() && !fs::is_directory(folder, ignored)) {
    bad_argument("entropy_index: the folder \"{}\" does not exist", folder.native());
  }
  s.store = EntropyIndexStore::open(option, o);
  return s;
}

}  // namespace penstock
