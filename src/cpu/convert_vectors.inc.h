// SPDX-License-Identifier: Apache-2.0
// The names of vector operations on floats that the conversion loops use; included by convert.inc.h.

// Eight pixels of three floats to planes, and back: three vectors, whose halves are four pixels each.
inline void split_pixels(const float* p, float* a, float* b, float* c) {
  const auto both = [p](int at) __attribute__((always_inline)) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + at)), _mm_loadu_ps(p + at + 12), 1);
  };
  const __m256 u = both(0), v = both(4), w = both(8);  // abca bcab cabc
  const __m256 late = _mm256_shuffle_ps(v, w, 0x9E);   // a2 b2 a3 b3
  const __m256 early = _mm256_shuffle_ps(u, v, 0x49);  // b0 c0 b1 c1
  _mm256_storeu_ps(a, _mm256_shuffle_ps(u, late, 0x8C));
  _mm256_storeu_ps(b, _mm256_shuffle_ps(early, late, 0xD8));
  _mm256_storeu_ps(c, _mm256_shuffle_ps(early, w, 0xCD));
}
inline void join_pixels(const float* pa, const float* pb, const float* pc, float* to) {
  const __m256 a = _mm256_loadu_ps(pa), b = _mm256_loadu_ps(pb), c = _mm256_loadu_ps(pc);
  const __m256 ab = _mm256_shuffle_ps(a, b, 0x88);  // a0 a2 b0 b2
  const __m256 bc = _mm256_shuffle_ps(b, c, 0xDD);  // b1 b3 c1 c3
  const __m256 ca = _mm256_shuffle_ps(c, a, 0xD8);  // c0 c2 a1 a3
  const __m256 v[3] = {_mm256_shuffle_ps(ab, ca, 0x88), _mm256_shuffle_ps(bc, ab, 0xD8),
                       _mm256_shuffle_ps(ca, bc, 0xDD)};
  for (int k = 0; k < 3; ++k) {
    _mm_storeu_ps(to + 4 * k, _mm256_castps256_ps128(v[k]));
    _mm_storeu_ps(to + 12 + 4 * k, _mm256_extractf128_ps(v[k], 1));
  }
}

#if PENSTOCK_TARGET_FLOATS == 8
using Floats = __m256;
inline Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
inline void store_floats(float* p, Floats v) { _mm256_storeu_ps(p, v); }
inline void stream_floats(float* p, Floats v) { _mm256_stream_ps(p, v); }
inline Floats all_floats(float v) { return _mm256_set1_ps(v); }
inline Floats fma_floats(Floats v, Floats m, Floats a) { return _mm256_fmadd_ps(v, m, a); }
inline Floats round_floats(Floats v, Floats low, Floats high) {  // max and min return their second operand if one is
                                                                 // NaN
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

// 256 bytes of table in four registers; two permutes of 128 entries each, and the top bit chooses.
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
