// SPDX-License-Identifier: Apache-2.0
// Converts interleaved bytes of three channels to and from planes of floats; included once per vector target by
// convert.cpp.

// masks[k][r]: the bytes of register r that go to register k. One side of the conversion is planes, the other pixels.
struct ByteMasks {
  alignas(16) uint8_t to_planes[3][3][16], to_pixels[3][3][16];
};
constexpr ByteMasks make_byte_masks() {
  ByteMasks m{};
  for (int k = 0; k < 3; ++k)
    for (int r = 0; r < 3; ++r)
      for (int t = 0; t < 16; ++t) {
        const int from = 3 * t + k;  // byte of the pixels that is sample t of plane k
        m.to_planes[k][r][t] = from / 16 == r ? static_cast<uint8_t>(from % 16) : 0x80;
        const int at = 16 * k + t;  // byte t of register k of the pixels
        m.to_pixels[k][r][t] = at % 3 == r ? static_cast<uint8_t>(at / 3) : 0x80;
      }
  return m;
}
constexpr ByteMasks kByteMasks = make_byte_masks();

inline __m128i gather_bytes(const __m128i v[3], const uint8_t masks[3][16]) {
  auto part = [&](int r) __attribute__((always_inline)) {
    return _mm_shuffle_epi8(v[r], _mm_load_si128(reinterpret_cast<const __m128i*>(masks[r])));
  };
  return _mm_or_si128(_mm_or_si128(part(0), part(1)), part(2));
}

// The same on two groups of 48 bytes, one in each half.
inline __m256i gather_bytes(const __m256i v[3], const uint8_t masks[3][16]) {
  auto part = [&](int r) __attribute__((always_inline)) {
    const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(masks[r]));
    return _mm256_shuffle_epi8(v[r], _mm256_broadcastsi128_si256(mask));
  };
  return _mm256_or_si256(_mm256_or_si256(part(0), part(1)), part(2));
}

inline void floats_of_bytes(__m128i v, float* out) {
#if PENSTOCK_TARGET_FLOATS == 16
  _mm512_storeu_ps(out, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(v)));
#else
  _mm256_storeu_ps(out, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(v)));
  _mm256_storeu_ps(out + 8, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(v, 8))));
#endif
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

// Pixel i is at in + 3 * i, mirrored at in - 3 * i. Returns how many pixels are done: a multiple of 16.
template <bool kMirrored>
inline int64_t load_rgb_bytes(const uint8_t* in, float* a, float* b, float* c, int64_t n) {
  float* planes[3] = {a, b, c};
  const __m128i reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int64_t i = 0;
  if constexpr (!kMirrored)
    for (; i + 32 <= n; i += 32) {
      const auto* p = reinterpret_cast<const __m128i*>(in + 3 * i);
      __m256i v[3];
      for (int r = 0; r < 3; ++r)
        v[r] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(p + r)), _mm_loadu_si128(p + r + 3), 1);
      for (int k = 0; k < 3; ++k) {
        const __m256i plane = gather_bytes(v, kByteMasks.to_planes[k]);
        floats_of_bytes(_mm256_castsi256_si128(plane), planes[k] + i);
        floats_of_bytes(_mm256_extracti128_si256(plane, 1), planes[k] + i + 16);
      }
    }
  for (; i + 16 <= n; i += 16) {
    const auto* p = reinterpret_cast<const __m128i*>(kMirrored ? in - 3 * (i + 15) : in + 3 * i);
    const __m128i v[3] = {_mm_loadu_si128(p), _mm_loadu_si128(p + 1), _mm_loadu_si128(p + 2)};
    for (int k = 0; k < 3; ++k) {
      __m128i plane = gather_bytes(v, kByteMasks.to_planes[k]);
      if constexpr (kMirrored) plane = _mm_shuffle_epi8(plane, reverse);
      floats_of_bytes(plane, planes[k] + i);
    }
  }
  return i;
}

inline int64_t store_rgb_bytes(const float* a, const float* b, const float* c, uint8_t* out, int64_t n) {
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const auto both = [i](const float* p) __attribute__((always_inline)) {
      return _mm256_inserti128_si256(_mm256_castsi128_si256(bytes_of_floats(p + i)), bytes_of_floats(p + i + 16), 1);
    };
    const __m256i v[3] = {both(a), both(b), both(c)};
    auto* to = reinterpret_cast<__m128i*>(out + 3 * i);
    for (int k = 0; k < 3; ++k) {
      const __m256i part = gather_bytes(v, kByteMasks.to_pixels[k]);
      _mm_storeu_si128(to + k, _mm256_castsi256_si128(part));
      _mm_storeu_si128(to + k + 3, _mm256_extracti128_si256(part, 1));
    }
  }
  for (; i + 16 <= n; i += 16) {
    const __m128i v[3] = {bytes_of_floats(a + i), bytes_of_floats(b + i), bytes_of_floats(c + i)};
    for (int k = 0; k < 3; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * i) + k, gather_bytes(v, kByteMasks.to_pixels[k]));
  }
  return i;
}
