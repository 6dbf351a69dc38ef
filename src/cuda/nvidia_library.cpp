// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvidia_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

// The folder names that NVIDIA's wheels use: one for all of CUDA 13, one a component before.
constexpr const char* kWheelFolders[] = {"cu13", "cu12", "nvjpeg", "nvjpeg2k", "nvtiff", "cuda_nvrtc"};

fs::path own_folder() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&open_nvidia_library), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  return fs::weakly_canonical(here.dli_fname, ignored).parent_path();
}

// An empty path stands for the loader's own places.
std::vector<fs::path> folders() {
  std::vector<fs::path> list;
  if (const char* given = std::getenv("PENSTOCK_NVIDIA_LIBS")) {
    std::istringstream all(given);
    for (std::string one; std::getline(all, one, ':');)
      if (!one.empty()) list.emplace_back(one);
  }
  list.emplace_back();
  fs::path above = own_folder();
  for (int up = 0; up < 3 && !above.empty() && above != above.root_path(); ++up, above = above.parent_path())
    for (const char* folder : kWheelFolders) list.push_back(above / "nvidia" / folder / "lib");
  list.emplace_back("/usr/local/cuda/lib64");
  return list;
}

}  // namespace

void* open_nvidia_library(std::initializer_list<const char*> names, std::string& why) {
  const std::vector<fs::path> places = folders();
  std::string tried;
  for (const char* name : names) {
    for (const fs::path& folder : places) {
      std::error_code ignored;
      if (!folder.empty() && !fs::exists(folder / name, ignored)) continue;
      if (void* library = dlopen(folder.empty() ? name : (folder / name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
      if (const char* reason = dlerror()) tried += (tried.empty() ? "" : "; ") + std::string(reason);
    }
  }
  why = tried;
  return nullptr;
}

OptionalLibrary::OptionalLibrary(const char* title, const char* variable, const char* advice,
                                 std::initializer_list<const char*> names)
    : title_(title) {
  const char* wanted = std::getenv(variable);
  if (wanted && !std::strcmp(wanted, "off")) {
    why_ = fmt::format("{} switches {} off", variable, title);
    return;
  }
  file_ = open_nvidia_library(names, why_);
  if (!file_) why_ = fmt::format("{} was not found ({}): {}", title, advice, why_);
}

void* OptionalLibrary::address(const char* name) {
  void* found = file_ ? dlsym(file_, name) : nullptr;
  if (file_ && !found) why_ = fmt::format("{} lacks {}", title_, name);
  return found;
}

}  // namespace penstock
