// SPDX-License-Identifier: Apache-2.0
// Blocks of the LZ4 format (lz4_Block_format.md of its project), without frames.
#pragma once
#include <cstdint>
#include <span>

namespace penstock {

// Writes exactly to.size() bytes. Throws Error (data) if the block is damaged, or holds fewer or more bytes.
void decode_lz4(std::span<const uint8_t> block, std::span<uint8_t> to);

}  // namespace penstock
