// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/notice.h"
#include "base/settings.h"

namespace penstock {

namespace fs = std::filesystem;

static std::string reason(int code) { return std::generic_category().message(code); }

std::string cache_folder() {
  if (const std::string_view own = Setting("PENSTOCK_CACHE").text(); !own.empty())
    return fs::absolute(own).lexically_normal();
  if (const std::string_view cache = Setting("XDG_CACHE_HOME").text(); !cache.empty() && cache[0] == '/')
    return std::string(cache) + "/penstock";
  std::string home(Setting("HOME").text());
  if (home.empty())
    if (const passwd* user = ::getpwuid(::geteuid()); user && user->pw_dir) home = user->pw_dir;
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/penstock";
}

std::string not_private(const struct stat& info) {
  if (info.st_uid != ::geteuid()) return "it belongs to another user";
  if (info.st_mode & (S_IWGRP | S_IWOTH)) return "others can write to it";
  return {};
}

// Why another user can replace an entry of the folder; "" if nobody can. In a folder with the sticky bit, such as
// /tmp, only the owner of an entry can rename it.
static std::string replaceable_in(const struct stat& info) {
  constexpr uid_t kUnknown = 65534;  // an owner that a container's user namespace does not map: the host's own folders
  if (info.st_uid != 0 && info.st_uid != ::geteuid() && info.st_uid != kUnknown) return "belongs to another user";
  if (info.st_mode & (S_IWGRP | S_IWOTH) && !(info.st_mode & S_ISVTX)) return "others can write to it";
  return {};
}

// The same for the folders above, with links resolved. A group with the user's own number is the user.
static std::string above_not_private(const std::string& path) {
  std::error_code ignored;
  fs::path full = fs::weakly_canonical(path, ignored);
  if (full.empty()) full = path;
  while (full.has_relative_path()) {
    full = full.parent_path();
    struct stat info;
    if (::stat(full.c_str(), &info) != 0) return reason(errno);
    const bool own_group = info.st_gid == ::getegid() && info.st_gid == info.st_uid && !(info.st_mode & S_IWOTH);
    if (const std::string why = replaceable_in(info); !why.empty() && !own_group)
      return fmt::format("{} above it {}", full.string(), why);
  }
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
  if (!S_ISDIR(info.st_mode)) return "it is not a folder";
  if (const std::string why = not_private(info); !why.empty()) return why;
  std::string why = above_not_private(path);
  if (!why.empty()) notice(fmt::format("the cache folder {} is not used: {}", path, why));
  return why;
}

}  // namespace penstock
