// SPDX-License-Identifier: Apache-2.0
// Linear blends of bytes in integers: neighbors of a row as the two bytes of a dot product.
#pragma once
#include "cuda/kernels/bytes.h"
#include "pixel/affine.h"

namespace penstock {
#ifdef PENSTOCK_EMULATED
inline uint32_t bytes_by(uint32_t low, uint32_t high, uint32_t places) {
  uint32_t word = 0;
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  for (int k = 0; k < 4; ++k) word |= static_cast<uint32_t>(both >> (places >> 4 * k & 7) * 8 & 255) << 8 * k;
  return word;
}
inline uint32_t dot_low(uint32_t weights, uint32_t bytes, uint32_t sum) {
  return sum + (weights & 0xFFFF) * (bytes & 255) + (weights >> 16) * (bytes >> 8 & 255);
}
inline uint32_t dot_high(uint32_t weights, uint32_t bytes, uint32_t sum) { return dot_low(weights, bytes >> 16, sum); }
#else
__device__ inline uint32_t bytes_by(uint32_t low, uint32_t high, uint32_t places) {
  return __byte_perm(low, high, places);
}
__device__ inline uint32_t dot_low(uint32_t weights, uint32_t bytes, uint32_t sum) {
  uint32_t r;
  asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(weights), "r"(bytes), "r"(sum));
  return r;
}
__device__ inline uint32_t dot_high(uint32_t weights, uint32_t bytes, uint32_t sum) {
  uint32_t r;
  asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(weights), "r"(bytes), "r"(sum));
  return r;
}
#endif
// Two neighbors: red in the lower half of `first`, green in the upper one, blue in the lower half of `third`.
struct BytePairs {
  uint32_t first, third;
};
struct ByteSums {
  uint32_t red, green, blue;
};  // the results are in bits 16 to 23
__device__ inline ByteSums blend_sums(const AffineByteWeights& w, BytePairs upper, BytePairs lower) {
  const uint32_t top = w.a | w.b << 16, bottom = w.c | w.d << 16;
  return {dot_low(bottom, lower.first, dot_low(top, upper.first, 32768u)),
          dot_high(bottom, lower.first, dot_high(top, upper.first, 32768u)),
          dot_low(bottom, lower.third, dot_low(top, upper.third, 32768u))};
}
// Two neighboring pixels at any address.
__device__ inline BytePairs byte_pairs_at(const uint8_t* from) {
  const TwoWords v = six_bytes_at(from);
  return {bytes_by(v.low, v.high, 0x4130), bytes_by(v.low, v.high, 0x0052)};
}
__device__ inline void blend_pairs(const uint8_t* upper, const uint8_t* lower, const AffineByteWeights& w,
                                   float (&to)[3]) {
  const ByteSums sums = blend_sums(w, byte_pairs_at(upper), byte_pairs_at(lower));
  to[0] = byte_number(sums.red, 2), to[1] = byte_number(sums.green, 2), to[2] = byte_number(sums.blue, 2);
}
}  // namespace penstock
