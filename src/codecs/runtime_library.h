// SPDX-License-Identifier: Apache-2.0
// Libraries of codecs that are loaded on first use: Penstock links no LGPL library, and users without such files need
// no library for them.
#pragma once
#include <initializer_list>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// Opens the first of `files` ("libmpg123.so.0") that the loader finds. The setting ("PENSTOCK_MPG123") gives another
// file, or is "off".
OptionalLibrary open_codec_library(Setting setting, std::initializer_list<const char*> files);

}  // namespace penstock
