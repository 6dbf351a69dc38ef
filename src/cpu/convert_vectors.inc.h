// SPDX-License-Identifier: Apache-2.0
// A register of floats by the names that the conversion loops are written in; included by convert.inc.h.

#if PENSTOCK_TARGET_FLOATS == 8
using Floats = __m256;
inline Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
inline void store_floats(float* p, Floats v) { _mm256_storeu_ps(p, v); }
inline void stream_floats(float* p, Floats v) { _mm256_stream_ps(p, v); }
inline Floats all_floats(float v) { return _mm256_set1_ps(v); }
inline Floats fma_floats(Floats v, Floats m, Floats a) { return _mm256_fmadd_ps(v, m, a); }
inline Floats round_floats(Floats v, Floats low, Floats high) {  // max and min return their second operand beside NaN
  return _mm256_min_ps(_mm256_max_ps(_mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), low), high);
}
#elif PENSTOCK_TARGET_FLOATS == 16
using Floats = __m512;
inline Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
inline void store_floats(float* p, Floats v) { _mm512_storeu_ps(p, v); }
inline void stream_floats(float* p, Floats v) { _mm512_stream_ps(p, v); }
inline Floats all_floats(float v) { return _mm512_set1_ps(v); }
inline Floats fma_floats(Floats v, Floats m, Floats a) { return _mm512_fmadd_ps(v, m, a); }
inline Floats round_floats(Floats v, Floats low, Floats high) {
  return _mm512_min_ps(_mm512_max_ps(_mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), low),
                       high);
}

// 256 bytes of table in four registers; two permutes of 128 entries each, the top bit chooses.
__attribute__((target("avx512vbmi"))) inline int64_t lookup_bytes(const uint8_t* in, int64_t n, const uint8_t* table,
                                                                  uint8_t* out) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64);
  const __m512i t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i v = _mm512_loadu_si512(in + i);
    const __m512i low = _mm512_permutex2var_epi8(t0, v, t1), high = _mm512_permutex2var_epi8(t2, v, t3);
    _mm512_storeu_si512(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), low, high));
  }
  return i;
}
#endif
