// SPDX-License-Identifier: Apache-2.0
// Bytes by aligned words, and as numbers.
#pragma once
#include "cuda/kernels/spellings.h"

namespace penstock {
// Byte b of four as a number.
PENSTOCK_HD inline float byte_number(uint32_t word, int b) {
#ifdef PENSTOCK_EMULATED
  return static_cast<float>(word >> 8 * b & 255);
#else
  return __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440 | b)) - 8388608.0f;
#endif
}
// The same times 2^-149, in one instruction: the bits of the float are the byte. Sums are exact if weights are
// multiplied by kEnlarge and none is smaller than kEnlarge * 2^-76; the weights of a second sum are multiplied by
// kReduce.
#ifdef PENSTOCK_EMULATED
constexpr float kEnlarge = 1.0f, kReduce = 1.0f;
PENSTOCK_HD inline float small_byte(uint32_t word, int b) { return static_cast<float>(word >> 8 * b & 255); }
#else
constexpr float kEnlarge = 0x1p120f, kReduce = 0x1p29f;
PENSTOCK_HD inline float small_byte(uint32_t word, int b) { return __uint_as_float(__byte_perm(word, 0, 0x4440 | b)); }
#endif
// A byte as the factor of a weight. `small`: small_byte. The conversion unit, otherwise idle, takes half of the others.
template <bool small> PENSTOCK_HD inline float byte_factor(uint32_t word, int b) {
  if constexpr (small) return small_byte(word, b);
  else return b % 3 == 0 ? static_cast<float>(word >> 8 * b & 255) : byte_number(word, b);
}
// The byte as a number, plus kRaw: a difference of two cancels it.
constexpr float kRaw = 8388608.0f;
PENSTOCK_HD inline float raw_byte(uint32_t word, int b) {
#ifdef PENSTOCK_EMULATED
  return static_cast<float>(word >> 8 * b & 255) + kRaw;
#else
  return __uint_as_float(__byte_perm(word, 0x4B000000u, 0x7440 | b));
#endif
}
PENSTOCK_HD inline uint32_t shifted(uint32_t low, uint32_t high, int bits) {
#ifndef PENSTOCK_EMULATED
  return __funnelshift_r(low, high, bits);
#endif
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> (bits & 31));
}
// Four bytes at any address, by aligned words. A word that has none of them is not read.
PENSTOCK_HD inline uint32_t word_at(const uint8_t* from) {
  const uint64_t address = reinterpret_cast<uint64_t>(from);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t{3});
  const int shift = static_cast<int>(address & 3) * 8;
  return shifted(words[0], shift ? words[1] : 0, shift);
}
// Up to eight bytes.
struct TwoWords {
  uint32_t low, high;
};
PENSTOCK_HD inline float byte_number(const TwoWords& v, int b) { return byte_number(b < 4 ? v.low : v.high, b & 3); }
PENSTOCK_HD inline float small_byte(const TwoWords& v, int b) { return small_byte(b < 4 ? v.low : v.high, b & 3); }
PENSTOCK_HD inline float raw_byte(const TwoWords& v, int b) { return raw_byte(b < 4 ? v.low : v.high, b & 3); }
// Six bytes at any address: two neighboring pixels. The last of three words is read only if it has one of the bytes.
PENSTOCK_HD inline TwoWords six_bytes_at(const uint8_t* from) {
  const uint64_t address = reinterpret_cast<uint64_t>(from);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t{3});
  const int shift = static_cast<int>(static_cast<uint32_t>(address) << 3);  // the shift uses five bits
  const uint32_t a = words[0], b = words[1], c = (shift & 24) == 24 ? words[2] : 0;
  return {shifted(a, b, shift), shifted(b, c, shift)};
}
// The same as numbers.
PENSTOCK_HD inline void pixels_at(const uint8_t* from, float (&first)[3], float (&second)[3]) {
  const TwoWords v = six_bytes_at(from);
  for (int p = 0; p < 3; ++p) first[p] = byte_number(v, p), second[p] = byte_number(v, p + 3);
}
// Eight bytes at any address.
PENSTOCK_HD inline TwoWords eight_bytes_at(const uint8_t* from) {
  const uint64_t address = reinterpret_cast<uint64_t>(from);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t{3});
  const int shift = static_cast<int>(address & 3) * 8;
  const uint32_t a = words[0], b = words[1], c = shift ? words[2] : 0;
  return {shifted(a, b, shift), shifted(b, c, shift)};
}
// Four bytes of which only [first, last) may be read.
PENSTOCK_HD inline uint32_t bytes_of(const uint8_t* from, int first, int last) {
  uint32_t word = 0;
  for (int b = 0; b < 4; ++b)
    if (b >= first && b < last) word |= static_cast<uint32_t>(from[b]) << 8 * b;
  return word;
}
}  // namespace penstock
