// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// GIF (87a, 89a): the first picture on its canvas, 3 channels, or 4 where one index is transparent. What the picture
// leaves free of the canvas has the transparent index, else the background's. Source: CompuServe's Graphics Interchange
// Format, version 89a.
const ImageDecoder& gif_decoder();

}  // namespace penstock
