// SPDX-License-Identifier: Apache-2.0
// Copies of single pixels from anywhere in an image, included once per target by what reads the nearest pixel.

constexpr int kNearestGroup = 32;  // so few that a border slows down few others

#if PENSTOCK_TARGET_FLOATS == 16  // the gathers of AVX2 are slower than loads
// Sixteen pixels of three bytes; reads a byte after each.
inline void copy_threes(const char* in, const int32_t* offset, char* to) {
  const __m512i pixels = _mm512_i32gather_epi32(_mm512_loadu_si512(offset), in, 1);
  const __m128i without_fourth = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m512i order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
  const __m512i packed = _mm512_shuffle_epi8(pixels, _mm512_broadcast_i32x4(without_fourth));
  _mm512_mask_storeu_epi32(to, 0x0fff, _mm512_permutexvar_epi32(order, packed));
}
#endif
// n <= kNearestGroup pixels, at in + offset[i]. `wider`: after each of them there are as many bytes as it is wide.
template <int kBytes>
void copy_nearest(const char* in, const int32_t* offset, bool wider, int n, char* to) {
  // Three bytes are copied as four, which the next pixel overwrites; twelve as sixteen.
  constexpr int kWide = kBytes % 3 ? kBytes : kBytes / 3 * 4;
#if PENSTOCK_TARGET_FLOATS == 16
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
