// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// Netpbm's PBM, PGM and PPM, plain (P1, P2, P3) and raw (P4, P5, P6), the first picture of a file. The file's maximum
// is white: values are rescaled from it, rounded to nearest, to 8 bits, or to 16 where it is above 255; larger values
// count as the maximum. Source: Netpbm's format descriptions.
const ImageDecoder& pnm_decoder();

}  // namespace penstock
