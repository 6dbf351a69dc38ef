// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// Windows bitmaps (BMP) and those of OS/2 1: 1, 4 and 8 bits with a palette, also run-length coded; 16, 24 and 32 bits,
// also with masks. A palette of grays gives 1 channel, any other 3; a mask for alpha gives 4. The fourth byte of 32
// bits without masks is no alpha. JPEG and PNG inside of BMP are declined. Source: Microsoft's description of
// BITMAPINFOHEADER to BITMAPV5HEADER.
const ImageDecoder& bmp_decoder();

}  // namespace penstock
