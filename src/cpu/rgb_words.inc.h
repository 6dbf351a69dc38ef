// SPDX-License-Identifier: Apache-2.0
// Pixels of three bytes to planes of words, and planes of bytes to pixels; a part of byte_sums.inc.h.

#if PENSTOCK_TARGET_FLOATS
// Sixteen pixels of three bytes: the bytes of channel c that part q of 16 bytes has, and where a plane's go.
struct RgbShuffles {
  __m128i split[3][3], join[3][3];
  RgbShuffles() {
    alignas(16) int8_t from[3][3][16], to[3][3][16];
    for (int c = 0; c < 3; ++c)
      for (int q = 0; q < 3; ++q)
        for (int i = 0; i < 16; ++i) {
          const int at = 3 * i + c - 16 * q, byte = 16 * q + i;
          from[c][q][i] = static_cast<int8_t>(at >= 0 && at < 16 ? at : -1);
          to[c][q][i] = static_cast<int8_t>(byte % 3 == c ? byte / 3 : -1);
        }
    for (int c = 0; c < 3; ++c)
      for (int q = 0; q < 3; ++q) {
        split[c][q] = _mm_load_si128(reinterpret_cast<const __m128i*>(from[c][q]));
        join[c][q] = _mm_load_si128(reinterpret_cast<const __m128i*>(to[c][q]));
      }
  }
};
inline __m128i shuffled(const __m128i* parts, const __m128i* by) {
  return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(parts[0], by[0]), _mm_shuffle_epi8(parts[1], by[1])),
                      _mm_shuffle_epi8(parts[2], by[2]));
}
#endif

inline void split_rgb(const uint8_t* pixels, uint16_t* const* words, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  static const RgbShuffles shuffles;
  for (; i + 16 <= n; i += 16) {
    __m128i parts[3];
    for (int q = 0; q < 3; ++q) parts[q] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + 3 * i + 16 * q));
    for (int c = 0; c < 3; ++c)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words[c] + i),
                          _mm256_cvtepu8_epi16(shuffled(parts, shuffles.split[c])));
  }
#endif
  for (; i < n; ++i)
    for (int c = 0; c < 3; ++c) words[c][i] = pixels[3 * i + c];
}

inline void join_rgb(const uint8_t* const* planes, uint8_t* pixels, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  static const RgbShuffles shuffles;
  for (; i + 16 <= n; i += 16) {
    __m128i parts[3];
    for (int c = 0; c < 3; ++c) parts[c] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(planes[c] + i));
    for (int q = 0; q < 3; ++q) {
      const __m128i by[3] = {shuffles.join[0][q], shuffles.join[1][q], shuffles.join[2][q]};
      _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels + 3 * i + 16 * q), shuffled(parts, by));
    }
  }
#endif
  for (; i < n; ++i)
    for (int c = 0; c < 3; ++c) pixels[3 * i + c] = planes[c][i];
}
