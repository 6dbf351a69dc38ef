// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/image_decoder.h"

namespace penstock {

// WebP through libwebp: lossy and lossless, 3 channels or 4 with alpha; of an animation the first picture on its
// canvas. A region reads no more of a still picture than it must.
const ImageDecoder& libwebp_decoder();

}  // namespace penstock
