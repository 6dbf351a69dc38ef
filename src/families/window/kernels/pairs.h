// SPDX-License-Identifier: Apache-2.0
// Words of bytes. Bytes are compared two at a time, as the upper ones of two numbers of 16 bits: where they are equal,
// the lower ones do not matter. A word leads with its bytes 1 and 3; moved by 8 bits it leads with 0 and 2.
#pragma once
#include <cstdint>

#include "pixel/extremes.h"

namespace penstock::window {

// Four of the eight bytes of two words: a digit of `places` for each, the lowest first.
PENSTOCK_HD inline uint32_t chosen_bytes(uint32_t low, uint32_t high, uint32_t places) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, places);
#else
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  uint32_t word = 0;
  for (int k = 0; k < 4; ++k) word |= static_cast<uint32_t>(both >> (places >> 4 * k & 7) * 8 & 255) << 8 * k;
  return word;
#endif
}
// Four bytes of two words, from byte `from` on: 0 to 3.
PENSTOCK_HD inline uint32_t bytes_from(uint32_t low, uint32_t high, int from) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, 8 * from);
#else
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> 8 * from);
#endif
}
// The word whose leading bytes are those of two pairs: of its bytes 1 and 3, and of 0 and 2.
PENSTOCK_HD inline uint32_t leading_bytes(uint32_t odd, uint32_t even) { return chosen_bytes(odd, even, 0x3715); }

PENSTOCK_HD inline void sort_pair(uint32_t& a, uint32_t& b) {
  const uint32_t low = lesser_pairs(a, b);
  b = greater_pairs(a, b);
  a = low;
}

// Rows of words as pairs: odd[i] and even[i] hold the bytes 1 and 3, and 0 and 2, of word i.
template <int n> struct Pairs {
  uint32_t odd[n], even[n];
  // The pair of bytes `at` and at + 2 of the row.
  PENSTOCK_HD uint32_t pair(int at) const {
    const uint32_t* const of = at & 1 ? odd : even;
    const int i = at >> 2;
    return at & 2 ? chosen_bytes(of[i], of[i + 1], 0x5432) : of[i];
  }
};

// Neighboring words of a row.
template <int words> struct alignas(4 * words) Words {
  uint32_t word[words];
};
using Vector = Words<4>;
constexpr int kVectorBytes = 16;
// Brings memory that is read soon into a cache.
PENSTOCK_HD inline void fetch_early([[maybe_unused]] const void* at) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L1 [%0];" ::"l"(at));
#endif
}
// For what is not read again soon.
PENSTOCK_HD inline void store_once(Vector* to, const Vector& v) {
#ifdef __CUDA_ARCH__
  __stcs(reinterpret_cast<uint4*>(to), make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]));
#else
  *to = v;
#endif
}

}  // namespace penstock::window
