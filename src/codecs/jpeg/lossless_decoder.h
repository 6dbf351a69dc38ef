// SPDX-License-Identifier: Apache-2.0
// Lossless JPEG (ITU-T T.81, process 14: frames of marker C3), which libjpeg-turbo supports from version 3 on: Huffman
// codes, all seven predictors, 8 bits, one or three components of the same size.
#pragma once
#include <string>

#include "codecs/image_decoder.h"
#include "codecs/jpeg_header.h"

namespace penstock::jpeg {

constexpr uint8_t kLosslessFrame = 0xC3;

// Why a lossless frame cannot be decoded here, all reasons at once; "" if it can.
std::string cannot_decode_lossless(const JpegHeader& header);
// Reads up to the region's last row. Errors are those of all decoders: codecs/image_decoder.h.
void decode_lossless(Bytes file, const JpegHeader& header, const DecodeParams& params, const Region& region,
                     const PixelSink& sink);

}  // namespace penstock::jpeg
