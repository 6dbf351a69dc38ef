// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/nvidia_library.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "cuda/runtime/driver_version.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// The folder names in NVIDIA's wheels: a single one for CUDA 13, one per component before.
constexpr const char* kWheelFolders[] = {"cu13", "cu12", "nvjpeg", "nvjpeg2k", "nvtiff", "cuda_nvrtc"};

fs::path own_library() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&own_library), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  return fs::weakly_canonical(here.dli_fname, ignored);
}

// Where NVIDIA's wheels are searched for: up to the folder that contains the package. A folder above that may belong to
// anybody, such as /tmp above an installation in /tmp/x. For a library that is not part of the package, only its own
// folder.
std::vector<fs::path> folders_with_wheels(const fs::path& own) {
  constexpr int kDeepest = 2;  // folders inside the package
  std::vector<fs::path> list{own};
  fs::path above = own;
  for (int up = 0; up <= kDeepest && above.has_relative_path(); ++up) {
    const bool package = above.filename() == "penstock";
    above = above.parent_path();
    list.push_back(above);
    if (package) return list;
  }
  return {own};
}

// Whether only this user, the one who installed the package, and root can have put the file there.
bool is_trusted(const fs::path& folder, const std::string& name) {
  struct stat own, info;
  const fs::path library = folder / name;
  if (::stat(own_library().c_str(), &own) != 0) return false;
  // The folders "nvidia", "cu13" and "lib" with links resolved, and the file.
  for (fs::path p : {folder.parent_path().parent_path(), folder.parent_path(), folder, library}) {
    if (::stat(p.c_str(), &info) != 0) return false;
    if (info.st_uid != 0 && info.st_uid != ::geteuid() && info.st_uid != own.st_uid) return false;
    if (info.st_mode & S_IWOTH) return false;
  }
  return true;
}

struct SearchFolder {
  fs::path folder;  // empty: the loader's own places
  bool wheel = false;
};

std::vector<SearchFolder> places_of_libraries() {
  std::vector<SearchFolder> list;
  if (const char* given = Setting("PENSTOCK_NVIDIA_LIBS").value()) {
    std::istringstream all(given);
    for (std::string one; std::getline(all, one, ':');)
      if (!one.empty()) list.push_back({one});
  }
  list.push_back({});
  for (const fs::path& above : folders_with_wheels(own_library().parent_path()))
    for (const char* folder : kWheelFolders) list.push_back({above / "nvidia" / folder / "lib", true});
  for (const char* toolkit : {"/usr/local/cuda", "/usr/local/cuda-13", "/usr/local/cuda-12"})
    list.push_back({fs::path(toolkit) / "lib64"});
  std::erase_if(list, [](const SearchFolder& s) { return !folder_fits(s.folder, driver_version()); });
  return list;
}

}  // namespace

bool folder_fits(const fs::path& folder, int driver) {
  for (const fs::path& part : folder)
    if (part == "cu13" || part == "cuda-13") return fits_driver(13, driver);
  return true;
}

void* open_nvidia_library(const std::vector<const char*>& names, std::string& why) {
  const std::vector<SearchFolder> places = places_of_libraries();
  std::string tried;
  for (const char* name : names) {
    for (const auto& [folder, wheel] : places) {
      std::error_code ignored;
      if (!folder.empty() && !fs::exists(folder / name, ignored)) continue;
      if (wheel && !is_trusted(folder, name)) {
        tried += (tried.empty() ? "" : "; ");
        tried += fmt::format("{}/{}: another user could have put it there", folder.string(), name);
        continue;
      }
      if (void* library = dlopen(folder.empty() ? name : (folder / name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
      if (const char* reason = dlerror()) tried += (tried.empty() ? "" : "; ") + std::string(reason);
    }
  }
  why = tried;
  return nullptr;
}

OptionalLibrary open_nvidia_library(const char* title, Setting setting, const std::string& advice,
                                    const std::vector<const char*>& names) {
  const std::string lacks = fmt::format("{} lacks", title);
  if (setting.text() == "off") return {nullptr, fmt::format("{} turns {} off", setting.name(), title), lacks};
  std::string why;
  if (void* library = open_nvidia_library(names, why)) return {library, {}, lacks};
  return {nullptr, fmt::format("{} was not found ({}): {}", title, advice, why), lacks};
}

}  // namespace penstock
