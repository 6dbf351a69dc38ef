// SPDX-License-Identifier: Apache-2.0
// Blocks of the LZ4 format on the host.
#pragma once
#include <cstdint>
#include <cstring>
#include <span>

#include "numerics/lz4_block.h"

namespace penstock {

struct OneThread {
  void wait() const {}
  void copy(uint8_t* to, const uint8_t* from, int64_t n) const { std::memcpy(to, from, static_cast<size_t>(n)); }
  void repeat(uint8_t* to, int64_t distance, int64_t n) const {
    for (int64_t k = 0; k < n; ++k) to[k] = to[k - distance];  // may overlap
  }
};
// Throws Error (data).
[[noreturn]] void refuse_lz4(const Lz4Damage& damage);
// Writes exactly to.size() bytes. Throws Error (data) if the block is damaged, or holds fewer or more bytes.
void decode_lz4(std::span<const uint8_t> block, std::span<uint8_t> to);

}  // namespace penstock
