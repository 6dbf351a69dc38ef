// SPDX-License-Identifier: Apache-2.0
// Lossless JPEG (ITU-T T.81, process 14: frames of marker C3), which libjpeg-turbo has from version 3 on: Huffman
// codes, all seven predictors, 8 bits, one or three components of the same size.
#pragma once
#include <string>

#include "codecs/image_decoder.h"
#include "codecs/jpeg_header.h"

namespace penstock::jpeg {

constexpr uint8_t kLosslessFrame = 0xC3;

// Why a lossless frame is not decoded here, all reasons at once; "" where it is.
std::string cannot_decode_lossless(const JpegHeader& header);
// Reads to the region's last row. Errors as those of all decoders: codecs/image_decoder.h.
void decode_lossless(Bytes file, const JpegHeader& header, const DecodeParams& params, const Region& region,
                     const PixelSink& sink);

}  // namespace penstock::jpeg
