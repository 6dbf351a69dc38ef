// SPDX-License-Identifier: Apache-2.0
// AVIF and HEIC: the boxes by our own reader, the coded pictures through libheif, which is found at run time.
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

const ImageDecoder& libheif_decoder();

}  // namespace penstock
