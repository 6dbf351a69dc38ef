// SPDX-License-Identifier: Apache-2.0
// Contiguous words of 32 bits, by aligned vectors.
#pragma once
#include <cstdint>

#include "pixel/host_device.h"

namespace penstock {

struct alignas(16) WordVector {
  uint32_t v[4];
};
// By one instruction: compilers leave out the words that they find unused, and then need two.
PENSTOCK_HD inline WordVector word_vector(const WordVector* p) {
#ifdef __CUDA_ARCH__
  WordVector own;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(own.v[0]), "=r"(own.v[1]), "=r"(own.v[2]), "=r"(own.v[3])
      : "l"(p));
  return own;
#else
  return *p;
#endif
}
// n words at an address that is a multiple of 4. For each line of the cache that a warp's instruction reads the cache
// takes its time, and vectors are fewer instructions. They may have up to 12 bytes before the words, and after them.
template <int n> PENSTOCK_HD inline void read_words(const void* at, uint32_t (&to)[n]) {
  constexpr int kVectors = (n + 6) / 4;
  const uint64_t address = reinterpret_cast<uint64_t>(at);
  const int skip = static_cast<int>(address >> 2 & 3);
  const auto* from = reinterpret_cast<const WordVector*>(address & ~uint64_t{15});
  uint32_t word[4 * kVectors];
  for (int k = 0; k < kVectors; ++k) {
    WordVector own{};
    if (4 * k < n || 4 * k < n + skip) own = word_vector(from + k);
    for (int i = 0; i < 4; ++i) word[4 * k + i] = own.v[i];
  }
  // By masks: of conditions compilers make indexes, and of these memory.
  const uint32_t by_one = skip & 1 ? ~0u : 0, by_two = skip & 2 ? ~0u : 0;
  for (int i = 0; i < n + 2; ++i) word[i] = (word[i + 1] & by_one) | (word[i] & ~by_one);
  for (int i = 0; i < n; ++i) to[i] = (word[i + 2] & by_two) | (word[i] & ~by_two);
}

}  // namespace penstock
