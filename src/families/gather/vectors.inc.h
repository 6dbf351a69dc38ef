// SPDX-License-Identifier: Apache-2.0
// The vectors of the samplers, included once per target: kLanes numbers of 32 bits, in groups of four (128 bits).
#define PENSTOCK_ALWAYS inline __attribute__((always_inline))
constexpr int kLanes = PENSTOCK_TARGET_FLOATS;
using F = float __attribute__((vector_size(kLanes * 4)));
using I = int32_t __attribute__((vector_size(kLanes * 4)));
#if PENSTOCK_TARGET_FLOATS == 8
#define PENSTOCK_PICK(avx2, avx512) avx2
#else
#define PENSTOCK_PICK(avx2, avx512) avx512
#endif
using RawF = PENSTOCK_PICK(__m256, __m512);
using RawI = PENSTOCK_PICK(__m256i, __m512i);

template <class V, class T> PENSTOCK_ALWAYS V load(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T> PENSTOCK_ALWAYS void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }
PENSTOCK_ALWAYS F to_float(I v) { return __builtin_convertvector(v, F); }
PENSTOCK_ALWAYS I round_int(F a) { return (I)PENSTOCK_PICK(_mm256_cvtps_epi32, _mm512_cvtps_epi32)((RawF)a); }
PENSTOCK_ALWAYS F fma_of(F a, F b, F c) {
  return (F)PENSTOCK_PICK(_mm256_fmadd_ps, _mm512_fmadd_ps)((RawF)a, (RawF)b, (RawF)c);
}
PENSTOCK_ALWAYS F lerp_of(F a, F b, F weight) { return fma_of(b - a, weight, a); }
PENSTOCK_ALWAYS F weighted_of(const F (&v)[4], const F (&w)[4]) {
  return fma_of(v[3], w[3], fma_of(v[2], w[2], fma_of(v[1], w[1], v[0] * w[0])));
}
PENSTOCK_ALWAYS bool all(I mask) {
#if PENSTOCK_TARGET_FLOATS == 8
  return _mm256_movemask_ps((__m256)mask) == 0xff;
#else
  return _mm512_movepi32_mask((__m512i)mask) == 0xffff;
#endif
}
// In each group: bytes by a pattern of 16; number k to all four.
PENSTOCK_ALWAYS I shuffled(I v, __m128i pattern) {
#if PENSTOCK_TARGET_FLOATS == 8
  return (I)_mm256_shuffle_epi8((__m256i)v, _mm256_broadcastsi128_si256(pattern));
#else
  return (I)_mm512_shuffle_epi8((__m512i)v, _mm512_broadcast_i32x4(pattern));
#endif
}
template <int k> PENSTOCK_ALWAYS F spread(F v) {
  return (F)PENSTOCK_PICK(_mm256_permute_ps, _mm512_permute_ps)((RawF)v, k * 0x55);
}
// Group i of the result is get(i).
template <class Get> PENSTOCK_ALWAYS I join(Get get) {
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(get(0)), get(1), 1);
#if PENSTOCK_TARGET_FLOATS == 8
  return (I)low;
#else
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(get(2)), get(3), 1);
  return (I)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#endif
}
PENSTOCK_ALWAYS __m128i load_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
PENSTOCK_ALWAYS __m128i load_two(const void* low, const void* high) {  // 64 bits each
  const __m128 first = _mm_castsi128_ps(_mm_loadl_epi64(static_cast<const __m128i*>(low)));
  return _mm_castps_si128(_mm_loadh_pi(first, static_cast<const __m64*>(high)));
}

// In each group: the numbers 0 of a and b, then 1; 2, then 3; the first two of a, then of b; the last two.
PENSTOCK_ALWAYS I low_pairs(I a, I b) {
  return (I)PENSTOCK_PICK(_mm256_unpacklo_epi32, _mm512_unpacklo_epi32)((RawI)a, (RawI)b);
}
PENSTOCK_ALWAYS I high_pairs(I a, I b) {
  return (I)PENSTOCK_PICK(_mm256_unpackhi_epi32, _mm512_unpackhi_epi32)((RawI)a, (RawI)b);
}
PENSTOCK_ALWAYS I low_halves(I a, I b) {
  return (I)PENSTOCK_PICK(_mm256_unpacklo_epi64, _mm512_unpacklo_epi64)((RawI)a, (RawI)b);
}
PENSTOCK_ALWAYS I high_halves(I a, I b) {
  return (I)PENSTOCK_PICK(_mm256_unpackhi_epi64, _mm512_unpackhi_epi64)((RawI)a, (RawI)b);
}

// Integers to bytes with saturation: number i of group g of a, b, c, d becomes bytes 16 g + i, + 4, + 8, + 12.
PENSTOCK_ALWAYS I packed(I a, I b, I c, I d) {
#if PENSTOCK_TARGET_FLOATS == 8
  const __m256i low = _mm256_packs_epi32((__m256i)a, (__m256i)b), high = _mm256_packs_epi32((__m256i)c, (__m256i)d);
  return (I)_mm256_packus_epi16(low, high);
#else
  const __m512i low = _mm512_packs_epi32((__m512i)a, (__m512i)b), high = _mm512_packs_epi32((__m512i)c, (__m512i)d);
  return (I)_mm512_packus_epi16(low, high);
#endif
}
PENSTOCK_ALWAYS void store_bytes(uint8_t* p, I v) {  // kLanes of them, saturated
#if PENSTOCK_TARGET_FLOATS == 8
  const __m128i h = _mm_packs_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(h, h));
#else
  const __m512i positive = _mm512_max_epi32((__m512i)v, _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(positive));
#endif
}
PENSTOCK_ALWAYS void store_rgb(uint8_t* p, I rgbx) {  // kLanes pixels of four bytes become 3 * kLanes bytes, none more
  const I v = shuffled(rgbx, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
#if PENSTOCK_TARGET_FLOATS == 8
  const __m256i w = _mm256_permutevar8x32_epi32((__m256i)v, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(w));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p + 16), _mm256_extracti128_si256(w, 1));
#else
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
  _mm512_mask_storeu_epi32(p, 0x0fff, _mm512_permutexvar_epi32(order, (__m512i)v));
#endif
}
#undef PENSTOCK_PICK
