// SPDX-License-Identifier: Apache-2.0
#include "codecs/audio/flac_checksums.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock {

namespace {

constexpr unsigned kFramePolynomial = 0x8005;  // without x^16

// tables[k][b]: the sum of byte b followed by k zero bytes, so that eight bytes take eight look-ups.
using Tables = std::array<std::array<uint16_t, 256>, 8>;
constexpr Tables make_tables() {
  Tables t{};
  for (unsigned k = 0; k < 8; ++k)
    for (unsigned b = 0; b < 256; ++b) {
      unsigned sum = k ? t[k - 1][b] : b << 8;
      for (int i = 0; i < 8; ++i) sum = sum & 0x8000 ? sum << 1 ^ kFramePolynomial : sum << 1;
      t[k][b] = static_cast<uint16_t>(sum);
    }
  return t;
}
constexpr Tables kTables = make_tables();

uint16_t sum_by_tables(AudioBytes bytes, unsigned sum) {
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8)
    sum = kTables[7][p[0] ^ sum >> 8] ^ kTables[6][p[1] ^ (sum & 255)] ^ kTables[5][p[2]] ^ kTables[4][p[3]] ^
          kTables[3][p[4]] ^ kTables[2][p[5]] ^ kTables[1][p[6]] ^ kTables[0][p[7]];
  for (; n > 0; ++p, --n) sum = (sum << 8 & 0xFFFF) ^ kTables[0][sum >> 8 ^ *p];
  return static_cast<uint16_t>(sum);
}

#if defined(__x86_64__)
constexpr int64_t rest_of_power(int n) {  // x^n modulo the polynomial
  unsigned rest = 1;
  for (; n > 0; --n) rest = rest & 0x8000 ? (rest << 1 ^ kFramePolynomial) & 0xFFFF : rest << 1;
  return rest;
}

// 128 bits that precede n more contribute the sum of two products of their halves.
#define PENSTOCK_CLMUL __attribute__((target("pclmul,ssse3")))
PENSTOCK_CLMUL __m128i fold(__m128i bits, __m128i powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(bits, powers, 0x00), _mm_clmulepi64_si128(bits, powers, 0x11));
}
PENSTOCK_CLMUL __m128i reversed(__m128i v) {
  return _mm_shuffle_epi8(v, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}
PENSTOCK_CLMUL __m128i load(const uint8_t* p) { return reversed(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }

PENSTOCK_CLMUL uint16_t sum_by_products(AudioBytes bytes) {
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  if (n < 64) return sum_by_tables(bytes, 0);
  const __m128i by_512 = _mm_set_epi64x(rest_of_power(512 + 64), rest_of_power(512));
  const __m128i by_128 = _mm_set_epi64x(rest_of_power(128 + 64), rest_of_power(128));
  __m128i a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);
  for (p += 64, n -= 64; n >= 64; p += 64, n -= 64) {
    a = _mm_xor_si128(fold(a, by_512), load(p));
    b = _mm_xor_si128(fold(b, by_512), load(p + 16));
    c = _mm_xor_si128(fold(c, by_512), load(p + 32));
    d = _mm_xor_si128(fold(d, by_512), load(p + 48));
  }
  b = _mm_xor_si128(b, fold(a, by_128));
  c = _mm_xor_si128(c, fold(b, by_128));
  d = _mm_xor_si128(d, fold(c, by_128));
  for (; n >= 16; p += 16, n -= 16) d = _mm_xor_si128(fold(d, by_128), load(p));
  uint8_t left[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(left), reversed(d));
  return sum_by_tables({p, n}, sum_by_tables(left, 0));
}
#endif

}  // namespace

uint8_t flac_header_sum(AudioBytes bytes) {
  unsigned sum = 0;
  for (const uint8_t byte : bytes) {
    sum ^= byte;
    for (int i = 0; i < 8; ++i) sum = sum & 0x80 ? (sum << 1 ^ 0x07) & 0xFF : sum << 1;
  }
  return static_cast<uint8_t>(sum);
}

uint16_t flac_frame_sum(AudioBytes bytes) {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
  if (has) return sum_by_products(bytes);
#endif
  return sum_by_tables(bytes, 0);
}
uint16_t flac_frame_sum_portable(AudioBytes bytes) { return sum_by_tables(bytes, 0); }

}  // namespace penstock
