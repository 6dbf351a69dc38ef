// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace penstock {

namespace fs = std::filesystem;

static std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}
static std::string reason(int code) { return std::generic_category().message(code); }

std::string cache_folder() {
  if (const std::string own = environment("PENSTOCK_CACHE"); !own.empty()) return fs::absolute(own).lexically_normal();
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty() && cache[0] == '/')
    return cache + "/penstock";
  std::string home = environment("HOME");
  if (home.empty())
    if (const passwd* user = ::getpwuid(::geteuid()); user && user->pw_dir) home = user->pw_dir;
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/penstock";
}

std::string not_private(const struct stat& info) {
  if (info.st_uid != ::geteuid()) return "it belongs to another user";
  if (info.st_mode & (S_IWGRP | S_IWOTH)) return "others may write it";
  return {};
}

std::string make_private_folder(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return reason(errno);
    const std::string parent = fs::path(path).parent_path();
    std::error_code failed;
    if (!parent.empty() && parent != path) fs::create_directories(parent, failed);
    if (failed) return failed.message();
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return reason(errno);
    if (::stat(path.c_str(), &info) != 0) return reason(errno);
  }
  if (!S_ISDIR(info.st_mode)) return "it is no folder";
  return not_private(info);
}

}  // namespace penstock
