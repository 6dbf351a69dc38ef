// SPDX-License-Identifier: Apache-2.0
// The vectors of byte_sums.inc.h under names that both targets share.

#if PENSTOCK_TARGET_FLOATS == 16
using Bits = __m512i;
constexpr int kWords = 16;  // of 32 bits in a vector
inline Bits load_bits(const void* p) { return _mm512_loadu_si512(p); }
inline void store_bits(void* p, Bits v) { _mm512_storeu_si512(p, v); }
inline Bits same(int32_t v) { return _mm512_set1_epi32(v); }
inline Bits no_bits() { return _mm512_setzero_si512(); }
inline Bits low_bytes(Bits a, Bits b) { return _mm512_unpacklo_epi8(a, b); }
inline Bits high_bytes(Bits a, Bits b) { return _mm512_unpackhi_epi8(a, b); }
inline Bits sums_of_two(Bits a, Bits b) { return _mm512_madd_epi16(a, b); }
inline Bits plus(Bits a, Bits b) { return _mm512_add_epi32(a, b); }
inline Bits moved_down(Bits a, __m128i by) { return _mm512_sra_epi32(a, by); }
inline Bits to_words(Bits a, Bits b) { return _mm512_packs_epi32(a, b); }
inline Bits to_bytes(Bits a, Bits b) { return _mm512_packus_epi16(a, b); }
inline Bits pick_words(Bits low, Bits high, Bits index) { return _mm512_permutex2var_epi32(low, index, high); }
inline uint32_t at_most(Bits a, Bits mask, Bits limit) {
  return _mm512_cmple_epi32_mask(_mm512_and_si512(a, mask), limit);
}
inline void store_words_as_bytes(uint8_t* to, Bits v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(_mm512_max_epi32(v, no_bits())));
}
inline int32_t sum_of_words(Bits v) { return _mm512_reduce_add_epi32(v); }
inline Bits widened(const uint8_t* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
#else
using Bits = __m256i;
constexpr int kWords = 8;
inline Bits load_bits(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store_bits(void* p, Bits v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
inline Bits same(int32_t v) { return _mm256_set1_epi32(v); }
inline Bits no_bits() { return _mm256_setzero_si256(); }
inline Bits low_bytes(Bits a, Bits b) { return _mm256_unpacklo_epi8(a, b); }
inline Bits high_bytes(Bits a, Bits b) { return _mm256_unpackhi_epi8(a, b); }
inline Bits sums_of_two(Bits a, Bits b) { return _mm256_madd_epi16(a, b); }
inline Bits plus(Bits a, Bits b) { return _mm256_add_epi32(a, b); }
inline Bits moved_down(Bits a, __m128i by) { return _mm256_sra_epi32(a, by); }
inline Bits to_words(Bits a, Bits b) { return _mm256_packs_epi32(a, b); }
inline Bits to_bytes(Bits a, Bits b) { return _mm256_packus_epi16(a, b); }
inline Bits pick_words(Bits low, Bits high, Bits index) {
  return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
                                              _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)),
                                              _mm256_castsi256_ps(_mm256_slli_epi32(index, 28))));
}
inline uint32_t at_most(Bits a, Bits mask, Bits limit) {
  const Bits more = _mm256_cmpgt_epi32(_mm256_and_si256(a, mask), limit);
  return ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(more))) & 0xFF;
}
inline void store_words_as_bytes(uint8_t* to, Bits v) {
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
}
inline int32_t sum_of_words(Bits v) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
}
inline Bits widened(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
#endif
