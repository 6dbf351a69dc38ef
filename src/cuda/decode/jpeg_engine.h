// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "codecs/image_decoder.h"

namespace penstock {

// What the decoder engines of GPUs cannot do, all reasons at once; empty where they take the file: baseline JPEG, YCbCr
// in one scan, upright, whole, to RGB or BGR in uint8.
std::string jpeg_engine_declines(Bytes file, const ImageInfo& info, const DecodeParams& params);

// The end marker (of JPEG and of JPEG 2000) is looked for where writers put it: at the end, perhaps with a few bytes
// behind. An engine does not say which row was the last, so what is cut off is left to the CPU.
bool has_end_marker(Bytes file);

}  // namespace penstock
