// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// How the file differs from rows of 8-bit samples in a general lossless compression, all of them present in the file;
// empty if it does not. `read`: what probe_image() kept.
std::string tiff_is_unusual(Bytes file, const ParsedHeader& read = {});

}  // namespace penstock
