// SPDX-License-Identifier: Apache-2.0
// Libraries of codecs that are looked for when they are needed first: what Penstock links against has no LGPL, and who
// does not have such files needs no library for them.
#pragma once
#include <initializer_list>

#include "base/optional_library.h"
#include "base/settings.h"

namespace penstock {

// The first of `files` ("libmpg123.so.0") that the loader finds. The setting ("PENSTOCK_MPG123") names another file, or
// is "off".
OptionalLibrary open_codec_library(Setting setting, std::initializer_list<const char*> files);

}  // namespace penstock
