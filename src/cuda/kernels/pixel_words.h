// SPDX-License-Identifier: Apache-2.0
// Two neighboring pixels of two rows, by aligned words.
#pragma once
#include "cuda/kernels/bytes.h"
#include "cuda/kernels/groups.h"

namespace penstock {
// Two neighboring pixels of two rows as the aligned words that hold them. Offsets are in bytes from an aligned address.
// A word that has none of their bytes is not read.
struct PixelWords {
  uint32_t upper[3], lower[3];
};
PENSTOCK_HD inline PixelWords pixel_words(const uint8_t* base, uint32_t upper, uint32_t lower) {
  const uint32_t* u = reinterpret_cast<const uint32_t*>(base + (upper & ~3u));
  const uint32_t* l = reinterpret_cast<const uint32_t*>(base + (lower & ~3u));
  return {{u[0], u[1], (~upper & 3) ? 0 : u[2]}, {l[0], l[1], (~lower & 3) ? 0 : l[2]}};
}
// The six bytes of two pixels.
PENSTOCK_HD inline TwoWords six_bytes(const uint32_t (&words)[3], uint32_t offset) {
  const int shift = static_cast<int>(offset << 3);  // the shift uses five bits
  return {shifted(words[0], words[1], shift), shifted(words[1], words[2], shift)};
}
// No test for NaN: from bytes, only coefficients could make one, and they are numbers.
struct NumbersToHalves {
  template <int q, int p> PENSTOCK_HD void operator()(const float (&from)[q][p], Half (&to)[q][p]) const {
    for (int j = 0; j < q; ++j)
      for (int k = 0; k < p; ++k) to[j][k].bits = bits_of_number(from[j][k]);
  }
};
}  // namespace penstock
