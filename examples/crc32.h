// SPDX-License-Identifier: Apache-2.0
// CRC-32 as zlib's, to compare the bytes of two programs.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

inline uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = (t[i] >> 1) ^ (t[i] & 1 ? 0xEDB88320u : 0);
    }
    return t;
  }();
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ table[(crc ^ static_cast<const uint8_t*>(data)[i]) & 255];
  return ~crc;
}
