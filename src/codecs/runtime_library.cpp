// SPDX-License-Identifier: Apache-2.0
#include "codecs/runtime_library.h"

namespace penstock {

OptionalLibrary open_codec_library(Setting setting, std::initializer_list<const char*> files) {
  constexpr const char* kLacks = "it lacks";
  const char* named = setting.value();
  if (named && std::string(named) == "off") return {nullptr, std::string(setting.name()) + " is off", kLacks};
  std::string why;
  const auto open = [&](const char* file) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    if (const char* said = dlerror(); said && why.empty()) why = said;
    return library;
  };
  if (named) {
    if (void* library = open(named)) return {library, {}, kLacks};
  } else {
    for (const char* file : files)
      if (void* library = open(file)) return {library, {}, kLacks};
  }
  return {nullptr, why, kLacks};
}

}  // namespace penstock
