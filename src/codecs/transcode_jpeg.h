// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/image_decoder.h"

namespace penstock {

// Whether its coefficients can be stored as one baseline scan and are not yet: the file is progressive, arithmetic or
// has several scans.
bool is_worth_baseline(Bytes file);
// The same coefficients, quantization tables, application markers (EXIF, ICC, JFIF, Adobe) and comments as one baseline
// scan with optimized Huffman tables: the same picture, pixel for pixel. Omits what follows the end marker. Throws
// ErrorKind::data if it is not a JPEG file of 8 bits or libjpeg finds anything wrong with it, since a copy would hide
// that; or if its scans omit bits of low frequencies, which decoders smooth over only as long as they can see it.
std::vector<uint8_t> to_baseline_jpeg(Bytes file, int64_t max_pixels = DecodeParams{}.max_pixels);

}  // namespace penstock
