// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// TIFF through libtiff: the first page, strips or tiles, interleaved or planar, with every compression that libtiff
// has. Samples of 1, 2, 4, 8 and 16 bits and float32; gray, RGB, palettes (3 channels), CMYK (becomes RGB), each with
// further channels (at most 512), which any_data gives. YCbCr, CIE L*a*b* and other kinds become RGB of 8 bits in
// libtiff. The tag Orientation counts as EXIF's. A region reads the strips or tiles that it touches.
const ImageDecoder& libtiff_decoder();

// What of a file is not just rows of 8-bit samples behind a general lossless compression, all of them in the file;
// empty: nothing.
std::string tiff_is_unusual(Bytes file);

}  // namespace penstock
