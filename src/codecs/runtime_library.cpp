// SPDX-License-Identifier: Apache-2.0
#include "codecs/runtime_library.h"

#include "base/error_of.h"
#include "codecs/video/ffmpeg_library.h"

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

std::vector<RuntimeCodec> runtime_codecs() {
  std::vector<RuntimeCodec> all;
  const auto add = [&](const char* name, auto&& load) {
    RuntimeCodec codec{name, {}, {}};
    if (const auto error = error_of([&] { codec.found = load(); })) codec.why_not = error->what();
    all.push_back(std::move(codec));
  };
  const auto without_version = [](void (*require)()) { return [require] { return require(), std::string(); }; };
  add("FFmpeg", [] { return ffmpeg::library().version; });
  add("AVIF", without_version(require_avif));
  add("HEIC", without_version(require_heic));
  add("JPEG XL", require_jxl);
  add("OpenEXR", require_openexr);
  add("MP3", without_version(require_mpg123));
  add("MP3 encoder", without_version(require_lame));
  return all;
}

}  // namespace penstock
