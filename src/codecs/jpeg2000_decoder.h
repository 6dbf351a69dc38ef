// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// JPEG 2000 through OpenJPEG: JP2 files and bare codestreams, samples of up to 16 bits (rescaled to 8, or to 16 where
// they are deeper), gray, RGB, sYCC (becomes RGB), palettes, alpha. Headers are checked before OpenJPEG sees them. A
// region decodes the code-blocks that it needs.
const ImageDecoder& openjpeg_decoder();

}  // namespace penstock
