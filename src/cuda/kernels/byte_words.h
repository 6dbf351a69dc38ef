// SPDX-License-Identifier: Apache-2.0
// Bytes that a stage takes from words and puts into words: an instruction each, where bytes of their own take three.
#pragma once
#include "cuda/kernels/byte_pairs.h"

namespace penstock {

// What loads for Stage::apply may return.
struct ByteOfWord {
  uint32_t word;
  int at;
};
template <class T, class V> PENSTOCK_INLINE V number_of(ByteOfWord v) {
  if constexpr (std::is_same_v<V, float>) return byte_number(v.word, v.at);
  else return number_of<uint8_t, V>(static_cast<uint8_t>(v.word >> 8 * v.at));
}

// Whether results come as numbers that word_of() takes.
template <class Stage>
inline constexpr bool kMakesWords = std::is_same_v<typename Stage::Out, uint8_t> &&
                                    std::is_same_v<typename Stage::Number, float> && !Stage::kTable && !Stage::kCopies;
// Four results as bytes. `within`: they are in the range of bytes.
template <bool within> PENSTOCK_HD inline uint32_t word_of(const float (&v)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
  // Two instructions, that of a pair each. NaN gives 0, as in small_integer().
  int32_t whole[4];
  uint32_t word = 0;
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k) asm("cvt.rni.s32.f32 %0, %1;" : "=r"(whole[k]) : "f"(v[k]));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(word) : "r"(whole[3]), "r"(whole[2]));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %0;" : "+r"(word) : "r"(whole[1]), "r"(whole[0]));
  return word;
#else
  uint32_t r[4];
  PENSTOCK_UNROLL
  for (int k = 0; k < 4; ++k)
    r[k] = std::bit_cast<uint32_t>(within ? v[k] + 12582912.0f : small_integer<uint8_t>(v[k]));
  return bytes_by(bytes_by(r[0], r[1], 0x0040), bytes_by(r[2], r[3], 0x0040), 0x5410);
#endif
}

}  // namespace penstock
