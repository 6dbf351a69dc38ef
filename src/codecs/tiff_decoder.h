// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// What of a file is not just rows of 8-bit samples behind a general lossless compression, all of them in the file;
// empty: nothing.
std::string tiff_is_unusual(Bytes file);

}  // namespace penstock
