// SPDX-License-Identifier: Apache-2.0
// Reads numbers from a file's bytes, whatever the processor's byte order.
#pragma once
#include <cstdint>

namespace penstock {

constexpr uint32_t le16(const uint8_t* p) { return p[0] | uint32_t{p[1]} << 8; }
constexpr uint32_t le32(const uint8_t* p) { return le16(p) | le16(p + 2) << 16; }
constexpr uint32_t be16(const uint8_t* p) { return uint32_t{p[0]} << 8 | p[1]; }
constexpr uint32_t be32(const uint8_t* p) { return be16(p) << 16 | be16(p + 2); }

}  // namespace penstock
