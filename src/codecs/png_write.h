// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace penstock {

// A PNG file of height x width pixels of uint8, 1 channel (gray) or 3 (RGB), interleaved, rows `row_bytes` apart (0:
// without gaps). Throws ErrorKind::argument for other shapes.
std::vector<uint8_t> encode_png(const uint8_t* pixels, int64_t height, int64_t width, int channels,
                                int64_t row_bytes = 0);

}  // namespace penstock
