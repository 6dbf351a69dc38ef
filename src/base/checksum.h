// SPDX-License-Identifier: Apache-2.0
// Two checksums, the same on every machine. Neither is safe against an attacker.
#pragma once
#include <cstdint>
#include <span>

namespace penstock {

// CRC-32C (Castagnoli), as in RFC 3720, appendix B.4. `before` is the sum of the preceding bytes. Uses the
// processor's products of polynomials (AVX-512) or its instruction where it has them; the others are for tests.
uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t before = 0);
uint32_t crc32c_by_instruction(std::span<const uint8_t> bytes, uint32_t before = 0);
uint32_t crc32c_portable(std::span<const uint8_t> bytes, uint32_t before = 0);

// 64 bits: multiplies and folds four independent sums of 64-bit words, at about the speed of memory. Accidental damage
// keeps the value with a probability of about 2^-53 for a file of 100 KB.
uint64_t content_hash(std::span<const uint8_t> bytes);

}  // namespace penstock
