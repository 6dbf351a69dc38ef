// SPDX-License-Identifier: Apache-2.0
// Copies of single pixels from anywhere in an image, included once per target by what reads the nearest pixel.

constexpr int kNearestGroup = 32;  // so few that a border slows down few others

#if PENSTOCK_TARGET_FLOATS
// Sixteen pixels of three bytes; reads a byte after each. Gathers are slower than so many loads, those of AVX-512, too.
inline void copy_threes(const char* in, const int32_t* offset, char* to) {
  const auto four = [&](int i) __attribute__((always_inline)) {
    const auto at = [&](int k) __attribute__((always_inline)) {
      int32_t pixel;
      std::memcpy(&pixel, in + offset[k], sizeof pixel);
      return pixel;
    };
    const __m128i low = _mm_insert_epi32(_mm_cvtsi32_si128(at(i)), at(i + 1), 1);
    const __m128i high = _mm_insert_epi32(_mm_cvtsi32_si128(at(i + 2)), at(i + 3), 1);
    return _mm_unpacklo_epi64(low, high);
  };
  const __m128i without_fourth = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m128i a = _mm_shuffle_epi8(four(0), without_fourth), b = _mm_shuffle_epi8(four(4), without_fourth);
  const __m128i c = _mm_shuffle_epi8(four(8), without_fourth), d = _mm_shuffle_epi8(four(12), without_fourth);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_or_si128(a, _mm_slli_si128(b, 12)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_or_si128(_mm_srli_si128(b, 4), _mm_slli_si128(c, 8)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 32), _mm_or_si128(_mm_srli_si128(c, 8), _mm_slli_si128(d, 4)));
}
#endif
// n <= kNearestGroup pixels, at in + offset[i]. `wider`: after each of them there are as many bytes as it is wide.
template <int kBytes>
void copy_nearest(const char* in, const int32_t* offset, bool wider, int n, char* to) {
  // Three bytes are copied as four, which the next pixel overwrites; twelve as sixteen.
  constexpr int kWide = kBytes % 3 ? kBytes : kBytes / 3 * 4;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (kBytes == 3)
    if (n == kNearestGroup && wider) {
      copy_threes(in, offset, to), copy_threes(in, offset + 16, to + 48);
      return;
    }
#endif
  if (n == kNearestGroup && (wider || kWide == kBytes)) {
#pragma GCC unroll 32
    for (int i = 0; i + 1 < kNearestGroup; ++i) std::memcpy(to + i * kBytes, in + offset[i], kWide);
    std::memcpy(to + (kNearestGroup - 1) * kBytes, in + offset[kNearestGroup - 1], kBytes);
    return;
  }
  for (int i = 0; i < n; ++i) std::memcpy(to + i * kBytes, in + offset[i], kBytes);
}
