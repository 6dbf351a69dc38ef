// SPDX-License-Identifier: Apache-2.0
// A box of the source in shared memory: each pixel of three bytes is a word.
#pragma once
#include "cuda/kernels/byte_pairs.h"

namespace penstock {
struct alignas(16) FourWords {
  uint32_t v[4];
};
struct alignas(16) BoxStart {
  int64_t x, y;
};
// Writes four neighboring pixels as words: of three words that hold them, from bytes at a word's address, from any
// address.
__device__ inline void put_pixels(uint32_t a, uint32_t b, uint32_t c, uint32_t* to) {
  *reinterpret_cast<FourWords*>(to) = {{a, bytes_by(a, b, 0x0543), bytes_by(b, c, 0x0432), c >> 8}};
}
__device__ inline void put_words(const uint32_t* from, uint32_t* to) { put_pixels(from[0], from[1], from[2], to); }
__device__ inline void put_inner(const uint8_t* from, uint32_t* to) {
  const uint64_t address = reinterpret_cast<uint64_t>(from);
  const uint32_t* words = reinterpret_cast<const uint32_t*>(address & ~uint64_t{3});
  const int shift = static_cast<int>(address & 3) * 8;
  const uint32_t q = words[0], r = words[1], s = words[2], t = shift ? words[3] : 0;
  put_pixels(shifted(q, r, shift), shifted(r, s, shift), shifted(s, t, shift), to);
}
// The same if some are outside the row.
__device__ PENSTOCK_NOINLINE inline void put_border(const uint8_t* row, int x, int width, bool fills, uint32_t outside,
                                                    uint32_t* to) {
  for (int k = 0; k < 4; ++k) {
    const int inside = clamp(x + k, 0, width - 1);
    const uint8_t* p = row + static_cast<int64_t>(inside) * 3;
    to[k] = fills && inside != x + k ? outside : p[0] | p[1] << 8 | p[2] << 16;
  }
}
// 2^20 / n, not less: the quotient of a number and n is the number times this, without the lower 20 bits.
__device__ inline uint32_t inverse_of(int n) {
#ifdef PENSTOCK_EMULATED
  return 1048576u / n + 1;
#else
  return static_cast<uint32_t>(__fdividef(1048576.0f, static_cast<float>(n))) + 1;
#endif
}
template <int pitch> __device__ inline uint32_t blended(const uint32_t* box, int64_t x, int64_t y) {
  const uint32_t* p = box + affine_at(y) * pitch + affine_at(x);
  const uint32_t a = p[0], b = p[1], c = p[pitch], d = p[pitch + 1];
  const AffineByteWeights w = affine_byte_weights(affine_byte_fraction(x), affine_byte_fraction(y));
  const ByteSums sums =
      blend_sums(w, {bytes_by(a, b, 0x5140), bytes_by(a, b, 0x0062)}, {bytes_by(c, d, 0x5140), bytes_by(c, d, 0x0062)});
  return bytes_by(bytes_by(sums.red, sums.green, 0x0062), sums.blue, 0x0610);
}
// Stores the first `count` of four pixels at `to`. Eight threads make a row: if `to` is not aligned to a word, a thread
// completes its first word with bytes of the thread before, and the two ends of the row are stored byte by byte.
__device__ inline void store_neighbors(uint8_t* to, int count, int column, const uint32_t (&bytes)[3],
                                       uint32_t before) {
  const int past = static_cast<int>(reinterpret_cast<uint64_t>(to) & 3), shift = 32 - past * 8;
  if (count >= 4 && past == 0) {
    for (int k = 0; k < 3; ++k) reinterpret_cast<uint32_t*>(to)[k] = bytes[k];
  } else if (count >= 4) {
    uint32_t* whole = reinterpret_cast<uint32_t*>(to - past);
    if (column > 0) whole[0] = shifted(before, bytes[0], shift);
    else PENSTOCK_ROLLED
    for (int k = past; k < 4; ++k) (to - past)[k] = static_cast<uint8_t>(bytes[0] >> (k - past) * 8);
    whole[1] = shifted(bytes[0], bytes[1], shift), whole[2] = shifted(bytes[1], bytes[2], shift);
    if (column == 7 || count < 8) PENSTOCK_ROLLED
    for (int k = 0; k < past; ++k) (to + 12 - past)[k] = static_cast<uint8_t>(bytes[2] >> (shift + k * 8));
  } else {
    PENSTOCK_ROLLED
    for (int k = 0; k < count * 3; ++k) to[k] = static_cast<uint8_t>(bytes[k >> 2] >> (k & 3) * 8);
  }
}
}  // namespace penstock
