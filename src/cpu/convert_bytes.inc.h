// SPDX-License-Identifier: Apache-2.0
// Converts interleaved bytes of three channels to and from planes of floats; included once per vector target by
// convert.cpp.

// A group of 128 bits holds four pixels. to_floats: their channel k as four numbers of 32 bits, the pixels from byte
// `first` on, or in the reverse order. to_pixels: of bytes r r r r g g g g b b b b, the pixels.
struct ByteMasks {
  alignas(16) uint8_t to_floats[3][16], to_pixels[16];
};
constexpr ByteMasks make_byte_masks(int first, bool mirrored) {
  ByteMasks m{};
  for (int t = 0; t < 16; ++t) {
    for (int k = 0; k < 3; ++k)
      m.to_floats[k][t] = t % 4 == 0 ? static_cast<uint8_t>(first + 3 * (mirrored ? 3 - t / 4 : t / 4) + k) : 0x80;
    m.to_pixels[t] = t < 12 ? static_cast<uint8_t>(t % 3 * 4 + t / 3) : 0x80;
  }
  return m;
}

// Rounds half to even and saturates; NaN becomes 0 because max returns its second operand then.
inline __m128i bytes_of_floats(const float* p) {
#if PENSTOCK_TARGET_FLOATS == 16
  const __m512 v = _mm512_max_ps(_mm512_loadu_ps(p), _mm512_setzero_ps());
  return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(_mm512_min_ps(v, _mm512_set1_ps(255.0f))));
#else
  const __m256 low = _mm256_max_ps(_mm256_loadu_ps(p), _mm256_setzero_ps());
  const __m256 high = _mm256_max_ps(_mm256_loadu_ps(p + 8), _mm256_setzero_ps());
  const __m256i a = _mm256_cvtps_epi32(_mm256_min_ps(low, _mm256_set1_ps(255.0f)));
  const __m256i b = _mm256_cvtps_epi32(_mm256_min_ps(high, _mm256_set1_ps(255.0f)));
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
  return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
#endif
}

// Prefetchers of processors begin anew at each page, which has no more than a tile or two of pixels.
constexpr int kBytesAhead = 2048;

#if PENSTOCK_TARGET_FLOATS == 16
constexpr int kBytePixels = 16;
// The pixels of a mirrored group begin at the end.
template <bool kMirrored> inline void floats_of_pixels(const uint8_t* p, float* const* planes, int64_t i) {
  static constexpr ByteMasks masks = make_byte_masks(0, kMirrored);
  const __m512i spread = kMirrored ? _mm512_setr_epi32(9, 10, 11, 0, 6, 7, 8, 0, 3, 4, 5, 0, 0, 1, 2, 0)
                                   : _mm512_setr_epi32(0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0);
  __builtin_prefetch(p + (kMirrored ? -kBytesAhead : kBytesAhead));
  const __m512i v = _mm512_permutexvar_epi32(spread, _mm512_maskz_loadu_epi32(0x0FFF, p));
  for (int k = 0; k < 3; ++k) {
    const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(masks.to_floats[k]));
    _mm512_storeu_ps(planes[k] + i, _mm512_cvtepi32_ps(_mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(mask))));
  }
}
// min gives its second operand for NaN, which becomes the least integer, and that becomes 0.
inline void pixels_of_floats(const float* a, const float* b, const float* c, uint8_t* out) {
  static constexpr ByteMasks masks = make_byte_masks(0, false);
  const __m512 most = _mm512_set1_ps(255.0f);
  const auto whole = [most](const float* p) __attribute__((always_inline)) {
    return _mm512_cvtps_epi32(_mm512_min_ps(most, _mm512_loadu_ps(p)));
  };
  const __m512i third = whole(c), words = _mm512_packs_epi32(whole(a), whole(b));
  const __m512i bytes = _mm512_packus_epi16(words, _mm512_packs_epi32(third, third));
  const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(masks.to_pixels));
  const __m512i v = _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(mask));
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
  _mm512_mask_storeu_epi32(out, 0x0FFF, _mm512_permutexvar_epi32(order, v));
}
#else
constexpr int kBytePixels = 8;
// The second half begins at byte 8, so that nothing after the pixels is read.
template <bool kMirrored> inline void floats_of_pixels(const uint8_t* p, float* const* planes, int64_t i) {
  static constexpr ByteMasks first = make_byte_masks(0, kMirrored), second = make_byte_masks(4, kMirrored);
  const ByteMasks &low = kMirrored ? second : first, &high = kMirrored ? first : second;
  __builtin_prefetch(p + (kMirrored ? -kBytesAhead : kBytesAhead));
  const auto at = [](const uint8_t* q)
                      __attribute__((always_inline)) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)); };
  const __m256i v =
      _mm256_inserti128_si256(_mm256_castsi128_si256(at(kMirrored ? p + 8 : p)), at(kMirrored ? p : p + 8), 1);
  for (int k = 0; k < 3; ++k) {
    const __m256i mask =
        _mm256_inserti128_si256(_mm256_castsi128_si256(at(low.to_floats[k])), at(high.to_floats[k]), 1);
    _mm256_storeu_ps(planes[k] + i, _mm256_cvtepi32_ps(_mm256_shuffle_epi8(v, mask)));
  }
}
// min gives its second operand for NaN, which becomes the least integer, and that becomes 0.
inline void pixels_of_floats(const float* a, const float* b, const float* c, uint8_t* out) {
  static constexpr ByteMasks masks = make_byte_masks(0, false);
  const __m256 most = _mm256_set1_ps(255.0f);
  const auto whole = [most](const float* p) __attribute__((always_inline)) {
    return _mm256_cvtps_epi32(_mm256_min_ps(most, _mm256_loadu_ps(p)));
  };
  const __m256i third = whole(c), words = _mm256_packs_epi32(whole(a), whole(b));
  const __m256i bytes = _mm256_packus_epi16(words, _mm256_packs_epi32(third, third));
  const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(masks.to_pixels));
  const __m256i v = _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(mask));
  const __m256i w = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(w));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(w, 1));
}
#endif

// Pixel i is at in + 3 * i, mirrored at in - 3 * i. Returns how many pixels are done.
template <bool kMirrored>
inline int64_t load_rgb_bytes(const uint8_t* in, float* a, float* b, float* c, int64_t n) {
  float* planes[3] = {a, b, c};
  int64_t i = 0;
  for (; i + kBytePixels <= n; i += kBytePixels)
    floats_of_pixels<kMirrored>(kMirrored ? in - 3 * (i + kBytePixels - 1) : in + 3 * i, planes, i);
  return i;
}

inline int64_t store_rgb_bytes(const float* a, const float* b, const float* c, uint8_t* out, int64_t n) {
  int64_t i = 0;
  for (; i + kBytePixels <= n; i += kBytePixels) pixels_of_floats(a + i, b + i, c + i, out + 3 * i);
  return i;
}

// Sixteen numbers in registers. Rounds half to even and saturates, as above.
constexpr int kWordRegisters = 16 / PENSTOCK_TARGET_FLOATS;
#if PENSTOCK_TARGET_FLOATS == 16
inline __m256i words_of_floats(const __m512* v) {
  const __m512i whole = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(65535.0f), v[0]));
  return _mm512_cvtepi32_epi16(_mm512_max_epi32(whole, _mm512_setzero_si512()));
}
inline void floats_of_words(__m256i words, __m512* v) { v[0] = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(words)); }
#else
inline __m256i words_of_floats(const __m256* v) {
  const __m256i a = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(65535.0f), v[0]));
  const __m256i b = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_set1_ps(65535.0f), v[1]));
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xD8);
}
inline void floats_of_words(__m256i words, __m256* v) {
  v[0] = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(words)));
  v[1] = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(words, 1)));
}
#endif
// Returns how many are done.
template <bool kPastCaches> inline int64_t store_pairs(const float* in, uint16_t* out, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    Floats v[kWordRegisters];
    for (int r = 0; r < kWordRegisters; ++r) v[r] = load_floats(in + i + r * PENSTOCK_TARGET_FLOATS);
    const __m256i pairs = words_of_floats(v);
    if constexpr (kPastCaches) _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i), pairs);
    else _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), pairs);
  }
  return i;
}
