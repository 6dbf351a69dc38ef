// SPDX-License-Identifier: Apache-2.0
#include "codecs/runtime_library.h"

#include <dlfcn.h>

namespace penstock {

RuntimeLibrary::RuntimeLibrary(Setting setting, std::initializer_list<const char*> files) {
  const char* named = setting.value();
  if (named && std::string(named) == "off") {
    why_not_ = std::string(setting.name()) + " is off";
    return;
  }
  const auto open = [&](const char* file) {
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library_)
      if (const char* why = dlerror(); why && why_not_.empty()) why_not_ = why;
  };
  if (named) open(named);
  else
    for (auto file = files.begin(); file != files.end() && !library_; ++file) open(*file);
  if (library_) why_not_.clear();
}

void* RuntimeLibrary::address(const char* name) {
  void* found = library_ ? dlsym(library_, name) : nullptr;
  if (!found && why_not_.empty()) why_not_ = std::string("it lacks ") + name;
  return found;
}

}  // namespace penstock
