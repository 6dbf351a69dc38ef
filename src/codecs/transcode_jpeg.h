// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/image_decoder.h"

namespace penstock {

// Whether its coefficients can be stored as one baseline scan and are not yet: progressive, arithmetic or several
// scans.
bool is_worth_baseline(Bytes file);
// The same coefficients, quantization tables, application markers (EXIF, ICC, JFIF, Adobe) and comments as one baseline
// scan with Huffman tables made for it: pixel for pixel the same picture. What follows the end marker is left out.
// Throws ErrorKind::data where it is no JPEG file of 8 bits or libjpeg finds anything wrong with it, since a copy would
// hide that; or where its scans leave out bits of low frequencies, which decoders smooth over as long as they see that.
std::vector<uint8_t> to_baseline_jpeg(Bytes file, int64_t max_pixels = DecodeParams{}.max_pixels);

}  // namespace penstock
