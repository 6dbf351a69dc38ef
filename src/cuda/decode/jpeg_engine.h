// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "codecs/image_decoder.h"

namespace penstock {

// Why the decoder engines of GPUs do not accept this file, all reasons at once; empty if they do: baseline JPEG, YCbCr
// in one scan, upright, whole, to RGB or BGR in uint8. `read`: what probe_image() kept.
std::string jpeg_engine_declines(Bytes file, const ImageInfo& info, const DecodeParams& params,
                                 const ParsedHeader& read = {});

// Looks for the end marker (of JPEG and of JPEG 2000) where writers put it: at the end, perhaps followed by a few
// bytes. An engine does not report which row was the last, so truncated files are left to the CPU.
bool has_end_marker(Bytes file);

}  // namespace penstock
