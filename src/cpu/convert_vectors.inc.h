// SPDX-License-Identifier: Apache-2.0
// The names of vector operations on floats that the conversion loops use; included by convert.inc.h.

// A vector of pixels of three floats to planes, and back.
#if PENSTOCK_TARGET_FLOATS == 16
// Number i of a plane is number at[i] of the first two registers, then by[i] of that and the third; 16 and more are in
// the second one.
struct FloatOrder {
  alignas(64) int32_t at[3][16], by[3][16];
};
constexpr FloatOrder planes_order() {
  FloatOrder o{};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 16; ++i) {
      const int from = 3 * i + k;
      o.at[k][i] = from < 32 ? from : 0, o.by[k][i] = from < 32 ? i : from - 16;
    }
  return o;
}
// Register k of the pixels, of planes a and b, then of that and plane c.
constexpr FloatOrder pixels_order() {
  FloatOrder o{};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 16; ++i) {
      const int channel = (16 * k + i) % 3, pixel = (16 * k + i) / 3;
      o.at[k][i] = channel < 2 ? 16 * channel + pixel : 0, o.by[k][i] = channel < 2 ? i : 16 + pixel;
    }
  return o;
}
inline __m512 ordered(const FloatOrder& o, int k, __m512 first, __m512 second, __m512 third) {
  const __m512 both = _mm512_permutex2var_ps(first, _mm512_load_si512(o.at[k]), second);
  return _mm512_permutex2var_ps(both, _mm512_load_si512(o.by[k]), third);
}
inline void split_pixels(const float* p, float* a, float* b, float* c) {
  static constexpr FloatOrder order = planes_order();
  const __m512 u = _mm512_loadu_ps(p), v = _mm512_loadu_ps(p + 16), w = _mm512_loadu_ps(p + 32);
  float* const to[3] = {a, b, c};
  for (int k = 0; k < 3; ++k) _mm512_storeu_ps(to[k], ordered(order, k, u, v, w));
}
template <bool kPastCaches> inline void join_pixels(const float* pa, const float* pb, const float* pc, float* to) {
  static constexpr FloatOrder order = pixels_order();
  const __m512 a = _mm512_loadu_ps(pa), b = _mm512_loadu_ps(pb), c = _mm512_loadu_ps(pc);
  for (int k = 0; k < 3; ++k) {
    const __m512 v = ordered(order, k, a, b, c);
    if constexpr (kPastCaches) _mm512_stream_ps(to + 16 * k, v);
    else _mm512_storeu_ps(to + 16 * k, v);
  }
}
#else
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
template <bool kPastCaches> inline void join_pixels(const float* pa, const float* pb, const float* pc, float* to) {
  const __m256 a = _mm256_loadu_ps(pa), b = _mm256_loadu_ps(pb), c = _mm256_loadu_ps(pc);
  const __m256 ab = _mm256_shuffle_ps(a, b, 0x88);  // a0 a2 b0 b2
  const __m256 bc = _mm256_shuffle_ps(b, c, 0xDD);  // b1 b3 c1 c3
  const __m256 ca = _mm256_shuffle_ps(c, a, 0xD8);  // c0 c2 a1 a3
  const __m256 v[3] = {_mm256_shuffle_ps(ab, ca, 0x88), _mm256_shuffle_ps(bc, ab, 0xD8),
                       _mm256_shuffle_ps(ca, bc, 0xDD)};
  const __m256 joined[3] = {_mm256_permute2f128_ps(v[0], v[1], 0x20), _mm256_permute2f128_ps(v[2], v[0], 0x30),
                            _mm256_permute2f128_ps(v[1], v[2], 0x31)};
  for (int k = 0; k < 3; ++k) {
    if constexpr (kPastCaches) _mm256_stream_ps(to + 8 * k, joined[k]);
    else _mm256_storeu_ps(to + 8 * k, joined[k]);
  }
}
#endif
// Returns how many pixels are done. Stores that bypass the caches need aligned memory.
inline int64_t store_float_pixels(const float* a, const float* b, const float* c, float* out, int64_t n,
                                  bool past_caches) {
  constexpr int kWide = PENSTOCK_TARGET_FLOATS;
  int64_t i = 0;
  if (past_caches) {
    const auto is_aligned = [&] { return reinterpret_cast<uintptr_t>(out + 3 * i) % (4 * kWide) == 0; };
    for (; i < std::min<int64_t>(n, kWide) && !is_aligned(); ++i)
      out[3 * i] = a[i], out[3 * i + 1] = b[i], out[3 * i + 2] = c[i];
    if (is_aligned())
      for (; i + kWide <= n; i += kWide) join_pixels<true>(a + i, b + i, c + i, out + 3 * i);
  }
  for (; i + kWide <= n; i += kWide) join_pixels<false>(a + i, b + i, c + i, out + 3 * i);
  return i;
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
#endif
