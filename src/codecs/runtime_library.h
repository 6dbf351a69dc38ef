// SPDX-License-Identifier: Apache-2.0
// Libraries of codecs that are loaded on first use: Penstock links no LGPL library, and users without such files need
// no library for them.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// Opens the first of `files` ("libmpg123.so.0") that the loader finds. The setting ("PENSTOCK_MPG123") gives another
// file, or is "off".
OptionalLibrary open_codec_library(Setting setting, std::initializer_list<const char*> files);

// Each loads its library and throws Error, with what to install, where that cannot be used.
void require_mpg123();
void require_lame();
void require_avif();
void require_heic();
std::string require_jxl();  // its name and version
std::string require_openexr();

struct RuntimeCodec {
  const char* name;     // as `penstock doctor` calls it
  std::string found;    // a version where the library says one, else empty
  std::string why_not;  // empty: it can be used
};
// Loads all of them. Never throws but for want of memory.
std::vector<RuntimeCodec> runtime_codecs();

}  // namespace penstock
