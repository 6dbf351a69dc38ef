// SPDX-License-Identifier: Apache-2.0
#include "base/checksum.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock {
namespace {

uint64_t load64(const uint8_t* p) {
  uint64_t x;
  std::memcpy(&x, p, sizeof x);
  if constexpr (std::endian::native == std::endian::big) x = __builtin_bswap64(x);
  return x;
}

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// tables[k][b]: the sum of byte b followed by k zero bytes, so that eight bytes take eight look-ups.
constexpr Tables make_tables() {
  constexpr uint32_t kPolynomial = 0x82F63B78u;
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t sum = b;
    for (int i = 0; i < 8; ++i) sum = sum & 1 ? sum >> 1 ^ kPolynomial : sum >> 1;
    t[0][b] = sum;
  }
  for (int k = 1; k < 8; ++k)
    for (uint32_t b = 0; b < 256; ++b) t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 255];
  return t;
}
constexpr Tables kTables = make_tables();

#if defined(__x86_64__)
// The instruction takes three cycles, and one can start in each. So three parts of kPart bytes are summed side by
// side. Sums are linear: to join them, a table for each byte of a sum says what kPart zero bytes make of it.
constexpr size_t kPart = 1024;
using ShiftTable = std::array<std::array<uint32_t, 256>, 4>;
constexpr ShiftTable make_shift() {
  std::array<uint32_t, 32> bits{};  // what each bit becomes
  for (uint32_t k = 0; k < 32; ++k) {
    uint32_t sum = uint32_t{1} << k;
    for (size_t n = 0; n < kPart; ++n) sum = sum >> 8 ^ kTables[0][sum & 255];
    bits[k] = sum;
  }
  ShiftTable t{};
  for (uint32_t j = 0; j < 4; ++j)
    for (uint32_t b = 0; b < 256; ++b)
      for (uint32_t k = 0; k < 8; ++k)
        if (b >> k & 1) t[j][b] ^= bits[8 * j + k];
  return t;
}

uint32_t after_part(uint32_t sum) {
  static constexpr ShiftTable kShift = make_shift();
  return kShift[0][sum & 255] ^ kShift[1][sum >> 8 & 255] ^ kShift[2][sum >> 16 & 255] ^ kShift[3][sum >> 24];
}

__attribute__((target("sse4.2"))) uint32_t crc32c_sse42(std::span<const uint8_t> bytes, uint32_t before) {
  uint64_t sum = static_cast<uint32_t>(~before);
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 3 * kPart; p += 3 * kPart, n -= 3 * kPart) {
    uint64_t second = 0, third = 0;
    for (size_t i = 0; i < kPart; i += 8) {
      sum = _mm_crc32_u64(sum, load64(p + i));
      second = _mm_crc32_u64(second, load64(p + kPart + i));
      third = _mm_crc32_u64(third, load64(p + 2 * kPart + i));
    }
    sum = after_part(after_part(static_cast<uint32_t>(sum)) ^ static_cast<uint32_t>(second)) ^
          static_cast<uint32_t>(third);
  }
  for (; n >= 8; p += 8, n -= 8) sum = _mm_crc32_u64(sum, load64(p));
  auto low = static_cast<uint32_t>(sum);
  for (; n > 0; ++p, --n) low = _mm_crc32_u8(low, *p);
  return ~low;
}

// The powers of x, modulo the polynomial, that move 16 bytes ahead by so many bits: for their first half and their
// second one. Bits are reflected, so that the product of two has one bit more.
struct Ahead {
  uint64_t first, second;
};
constexpr Ahead ahead(int bits) {
  const auto power = [](int n) {
    uint32_t r = 0x80000000u;
    for (int k = 0; k < n; ++k) r = r & 1 ? r >> 1 ^ 0x82F63B78u : r >> 1;
    return uint64_t{r} << 1;
  };
  return {power(bits + 32), power(bits - 32)};
}

#define PENSTOCK_FOLDING __attribute__((target("avx512f,avx512dq,vpclmulqdq,pclmul,sse4.2")))

PENSTOCK_FOLDING inline __m512i folded(__m512i x, Ahead by, __m512i next) {
  const auto first = static_cast<long long>(by.first), second = static_cast<long long>(by.second);
  const __m512i k = _mm512_set4_epi64(second, first, second, first);
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, k, 0x00), _mm512_clmulepi64_epi128(x, k, 0x11), next,
                                   0x96);
}
PENSTOCK_FOLDING inline __m128i folded(__m128i x, Ahead by, __m128i next) {
  const __m128i k = _mm_set_epi64x(static_cast<long long>(by.second), static_cast<long long>(by.first));
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11)), next);
}

// Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009): 256 bytes
// are moved ahead onto the next 256, until those that remain have the sum of all.
constexpr size_t kFolded = 256;
PENSTOCK_FOLDING uint32_t crc32c_folding(std::span<const uint8_t> bytes, uint32_t before) {
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  __m512i x[4];
  for (size_t i = 0; i < 4; ++i) x[i] = _mm512_loadu_si512(p + 64 * i);
  x[0] = _mm512_xor_si512(x[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~before))));
  constexpr Ahead k2048 = ahead(2048), k512 = ahead(512), k384 = ahead(384), k256 = ahead(256), k128 = ahead(128);
  for (p += kFolded, n -= kFolded; n >= kFolded; p += kFolded, n -= kFolded)
    for (size_t i = 0; i < 4; ++i) x[i] = folded(x[i], k2048, _mm512_loadu_si512(p + 64 * i));
  const __m512i last = folded(folded(folded(x[0], k512, x[1]), k512, x[2]), k512, x[3]);
  __m128i one = _mm512_extracti64x2_epi64(last, 3);
  one = folded(_mm512_extracti64x2_epi64(last, 0), k384, one);
  one = folded(_mm512_extracti64x2_epi64(last, 1), k256, one);
  one = folded(_mm512_extracti64x2_epi64(last, 2), k128, one);
  uint64_t sum = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(one)));
  sum = _mm_crc32_u64(sum, static_cast<uint64_t>(_mm_extract_epi64(one, 1)));
  return crc32c_sse42({p, n}, ~static_cast<uint32_t>(sum));
}

bool can_fold() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vpclmulqdq");
}
#endif

uint64_t fold(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint32_t crc32c_portable(std::span<const uint8_t> bytes, uint32_t before) {
  uint32_t sum = ~before;
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    const uint64_t x = load64(p) ^ sum;
    sum = 0;
    for (int k = 0; k < 8; ++k) sum ^= kTables[7 - k][x >> (8 * k) & 255];
  }
  for (; n > 0; ++p, --n) sum = sum >> 8 ^ kTables[0][(sum ^ *p) & 255];
  return ~sum;
}

uint32_t crc32c_by_instruction(std::span<const uint8_t> bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("sse4.2");
  if (has) return crc32c_sse42(bytes, before);
#endif
  return crc32c_portable(bytes, before);
}

uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t before) {
#if defined(__x86_64__)
  static const bool folds = can_fold();
  if (folds && bytes.size() >= kFolded) return crc32c_folding(bytes, before);
#endif
  return crc32c_by_instruction(bytes, before);
}

uint64_t content_hash(std::span<const uint8_t> bytes) {
  // Digits of the golden ratio and of SplitMix64's finalizer, and primes: any odd numbers with mixed bits would do.
  constexpr uint64_t kWord[4] = {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u, 0x94D049BB133111EBu, 0xD6E8FEB86659FD93u};
  uint64_t lane[4] = {kWord[1] ^ bytes.size(), kWord[2], kWord[3], kWord[0]};
  const uint8_t* p = bytes.data();
  size_t n = bytes.size();
  auto block = [&](const uint8_t* from) {
    for (int k = 0; k < 4; ++k) lane[k] = fold(load64(from + 16 * k) ^ kWord[k], load64(from + 16 * k + 8) ^ lane[k]);
  };
  for (; n >= 64; p += 64, n -= 64) block(p);
  if (n > 0) {
    uint8_t last[64] = {};
    std::memcpy(last, p, n);
    block(last);
  }
  uint64_t sum = kWord[0];
  for (uint64_t l : lane) sum = fold(sum ^ l, kWord[1]) + l;
  return fold(sum ^ kWord[2], kWord[3] ^ bytes.size());
}

}  // namespace penstock
