// SPDX-License-Identifier: Apache-2.0
// Pixels of bytes to planes and back, and to other pixels; a part of frame_rows.inc.h.
#if PENSTOCK_TARGET_FLOATS
// Byte i of channel c is byte (3 i + c) % 16 of a register whose bytes are those of that channel alone: the place in
// part (3 i + c) / 16 of three of 16 bytes.
struct ThreeBytes {
  __m256i gather[3], scatter[3], of[3][2];  // of[k][j]: the bytes of part k that are channel j's
  ThreeBytes() {
    for (int c = 0; c < 3; ++c) {
      alignas(16) int8_t from[16], to[16], own[2][16];
      for (int i = 0; i < 16; ++i) {
        from[i] = static_cast<int8_t>((3 * i + c) % 16), to[(3 * i + c) % 16] = static_cast<int8_t>(i);
        for (int j = 0; j < 2; ++j) own[j][i] = static_cast<int8_t>((16 * c + i) % 3 == j ? -1 : 0);
      }
      gather[c] = twice(from), scatter[c] = twice(to), of[c][0] = twice(own[0]), of[c][1] = twice(own[1]);
    }
  }
  static __m256i twice(const int8_t* at) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
  }
};
inline const ThreeBytes& three_bytes() {
  static const ThreeBytes bytes;
  return bytes;
}
#endif

inline void split_three(const uint8_t* pixels, uint8_t* a, uint8_t* b, uint8_t* c, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  const ThreeBytes t = three_bytes();
  uint8_t* const to[3] = {a, b, c};
  for (; i + 32 <= n; i += 32) {
    __m256i part[3];
    const auto* const from = reinterpret_cast<const __m128i*>(pixels + 3 * i);
    for (int k = 0; k < 3; ++k)
      part[k] =
          _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(from + k)), _mm_loadu_si128(from + 3 + k), 1);
    // Of channel j in part k is what is channel j's there: parts differ in where a channel begins.
    const __m256i first = _mm256_blendv_epi8(_mm256_blendv_epi8(part[2], part[1], t.of[1][0]), part[0], t.of[0][0]);
    const __m256i second = _mm256_blendv_epi8(_mm256_blendv_epi8(part[2], part[1], t.of[1][1]), part[0], t.of[0][1]);
    const __m256i in_first = _mm256_or_si256(t.of[0][0], t.of[0][1]),
                  in_second = _mm256_or_si256(t.of[1][0], t.of[1][1]);
    const __m256i third = _mm256_blendv_epi8(part[0], _mm256_blendv_epi8(part[1], part[2], in_second), in_first);
    const __m256i whole[3] = {first, second, third};
    for (int k = 0; k < 3; ++k)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[k] + i), _mm256_shuffle_epi8(whole[k], t.gather[k]));
  }
#endif
  for (; i < n; ++i) a[i] = pixels[3 * i], b[i] = pixels[3 * i + 1], c[i] = pixels[3 * i + 2];
}

inline void join_three(const uint8_t* a, const uint8_t* b, const uint8_t* c, uint8_t* pixels, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  const ThreeBytes t = three_bytes();
  const uint8_t* const from[3] = {a, b, c};
  for (; i + 32 <= n; i += 32) {
    __m256i own[3];
    for (int k = 0; k < 3; ++k)
      own[k] = _mm256_shuffle_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[k] + i)), t.scatter[k]);
    auto* const to = reinterpret_cast<__m128i*>(pixels + 3 * i);
    for (int k = 0; k < 3; ++k) {
      const __m256i v = _mm256_blendv_epi8(_mm256_blendv_epi8(own[2], own[1], t.of[k][1]), own[0], t.of[k][0]);
      _mm_storeu_si128(to + k, _mm256_castsi256_si128(v));
      _mm_storeu_si128(to + 3 + k, _mm256_extracti128_si256(v, 1));
    }
  }
#endif
  for (; i < n; ++i) pixels[3 * i] = a[i], pixels[3 * i + 1] = b[i], pixels[3 * i + 2] = c[i];
}

inline void split_four(const uint8_t* pixels, uint8_t* const* planes, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  alignas(16) static constexpr int8_t kByChannel[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const __m256i by_channel = ThreeBytes::twice(kByChannel), halves = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; i + 32 <= n; i += 32) {
    __m256i eight[4];  // of each channel, of eight pixels
    for (int k = 0; k < 4; ++k) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pixels + 4 * i) + k);
      eight[k] = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, by_channel), halves);
    }
    const __m256i ac[2] = {_mm256_unpacklo_epi64(eight[0], eight[1]), _mm256_unpacklo_epi64(eight[2], eight[3])};
    const __m256i bd[2] = {_mm256_unpackhi_epi64(eight[0], eight[1]), _mm256_unpackhi_epi64(eight[2], eight[3])};
    const auto put = [&](int p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(planes[p] + i), v); };
    put(0, _mm256_permute2x128_si256(ac[0], ac[1], 0x20)), put(2, _mm256_permute2x128_si256(ac[0], ac[1], 0x31));
    put(1, _mm256_permute2x128_si256(bd[0], bd[1], 0x20)), put(3, _mm256_permute2x128_si256(bd[0], bd[1], 0x31));
  }
#endif
  for (; i < n; ++i)
    for (int p = 0; p < 4; ++p) planes[p][i] = pixels[4 * i + p];
}
inline void join_four(const uint8_t* const* planes, uint8_t* pixels, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 32 <= n; i += 32) {
    __m256i v[4];
    for (int p = 0; p < 4; ++p) v[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes[p] + i));
    const __m256i ab[2] = {_mm256_unpacklo_epi8(v[0], v[1]), _mm256_unpackhi_epi8(v[0], v[1])};
    const __m256i cd[2] = {_mm256_unpacklo_epi8(v[2], v[3]), _mm256_unpackhi_epi8(v[2], v[3])};
    // Pixels 0 to 3 and 16 to 19, and so on.
    const __m256i four[4] = {_mm256_unpacklo_epi16(ab[0], cd[0]), _mm256_unpackhi_epi16(ab[0], cd[0]),
                             _mm256_unpacklo_epi16(ab[1], cd[1]), _mm256_unpackhi_epi16(ab[1], cd[1])};
    auto* const to = reinterpret_cast<__m256i*>(pixels + 4 * i);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(four[0], four[1], 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(four[2], four[3], 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(four[0], four[1], 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(four[2], four[3], 0x31));
  }
#endif
  for (; i < n; ++i)
    for (int p = 0; p < 4; ++p) pixels[4 * i + p] = planes[p][i];
}
// Red and blue of pixels of four bytes change places.
inline void turn_four(const uint8_t* from, uint8_t* to, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  alignas(16) static constexpr int8_t kTurned[16] = {2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15};
  const __m256i turned = ThreeBytes::twice(kTurned);
#if PENSTOCK_TARGET_FLOATS == 16
  const __m512i turned_each = _mm512_broadcast_i64x4(turned);
  for (; i + 16 <= n; i += 16)
    _mm512_storeu_si512(to + 4 * i, _mm512_shuffle_epi8(_mm512_loadu_si512(from + 4 * i), turned_each));
#endif
  for (; i + 8 <= n; i += 8) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 4 * i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 4 * i), _mm256_shuffle_epi8(v, turned));
  }
#endif
  for (; i < n; ++i) {
    const uint8_t first = from[4 * i], last = from[4 * i + 2];
    to[4 * i] = last, to[4 * i + 1] = from[4 * i + 1], to[4 * i + 2] = first, to[4 * i + 3] = from[4 * i + 3];
  }
}
#if PENSTOCK_TARGET_FLOATS
// Where the bytes of four pixels come from; -1: it is 0.
struct AlphaOrder {
  alignas(16) int8_t at[16];
};
constexpr AlphaOrder alpha_order(bool adds, bool turns) {
  AlphaOrder order{};
  const int in = adds ? 3 : 4, out = adds ? 4 : 3;
  for (int k = 0; k < 16; ++k) {
    const int pixel = k / out, c = k % out;
    order.at[k] = static_cast<int8_t>(c == 3 || pixel > 3 ? -1 : pixel * in + (turns ? 2 - c : c));
  }
  return order;
}
#endif
// Pixels of four bytes to three, and back with an alpha of 255; red and blue may change places.
inline void change_alpha(const uint8_t* from, uint8_t* to, int64_t n, bool adds, bool turns) {
  const int64_t in = adds ? 3 : 4, out = adds ? 4 : 3;
  const int first = turns ? 2 : 0, last = turns ? 0 : 2;
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  static constexpr AlphaOrder kOrders[2][2] = {{alpha_order(false, false), alpha_order(false, true)},
                                               {alpha_order(true, false), alpha_order(true, true)}};
  const __m256i by = ThreeBytes::twice(kOrders[adds][turns].at);
  const __m256i alpha = _mm256_set1_epi32(adds ? static_cast<int>(0xFF000000u) : 0);
  // The twelve bytes of a lane beside those of the other one, or apart from them.
  const __m256i apart = _mm256_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5), together = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7);
#if PENSTOCK_TARGET_FLOATS == 16
  const __m512i by_each = _mm512_broadcast_i64x4(by), alpha_each = _mm512_broadcast_i64x4(alpha);
  const __m512i apart_each = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
  if (adds) {
    for (; i + 22 <= n; i += 16) {  // 64 bytes are read
      const __m512i v = _mm512_permutexvar_epi32(apart_each, _mm512_loadu_si512(from + 3 * i));
      _mm512_storeu_si512(to + 4 * i, _mm512_or_si512(_mm512_shuffle_epi8(v, by_each), alpha_each));
    }
  } else {
    // Three words of each lane count. Four registers fill three: the rest of one, then the beginning of the next one.
    const __m512i first_of = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20);
    const __m512i second_of = _mm512_setr_epi32(5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25);
    const __m512i third_of = _mm512_setr_epi32(10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 30);
    for (; i + 64 <= n; i += 64) {
      __m512i v[4];
      for (int k = 0; k < 4; ++k) v[k] = _mm512_shuffle_epi8(_mm512_loadu_si512(from + 4 * i + 64 * k), by_each);
      _mm512_storeu_si512(to + 3 * i, _mm512_permutex2var_epi32(v[0], first_of, v[1]));
      _mm512_storeu_si512(to + 3 * i + 64, _mm512_permutex2var_epi32(v[1], second_of, v[2]));
      _mm512_storeu_si512(to + 3 * i + 128, _mm512_permutex2var_epi32(v[2], third_of, v[3]));
    }
  }
#endif
  for (; i + 11 <= n; i += 8) {  // 32 bytes are read or written, of which 24 count
    __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + in * i));
    if (adds) v = _mm256_or_si256(_mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(v, apart), by), alpha);
    else v = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(v, by), together);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + out * i), v);
  }
#endif
  for (; i < n; ++i) {
    to[out * i] = from[in * i + first], to[out * i + 1] = from[in * i + 1], to[out * i + 2] = from[in * i + last];
    if (adds) to[out * i + 3] = 255;
  }
}
inline void split_two(const uint8_t* __restrict pairs, uint8_t* __restrict a, uint8_t* __restrict b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) a[i] = pairs[2 * i], b[i] = pairs[2 * i + 1];
}
inline void join_two(const uint8_t* __restrict a, const uint8_t* __restrict b, uint8_t* __restrict pairs, int64_t n) {
  for (int64_t i = 0; i < n; ++i) pairs[2 * i] = a[i], pairs[2 * i + 1] = b[i];
}
