// SPDX-License-Identifier: Apache-2.0
// Included once per target by whole_means.cpp.

inline void add_rows(const uint8_t* const* rows, int count, uint16_t* sums, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sums[i] = rows[0][i];
  for (int k = 1; k < count; ++k) {
    const uint8_t* const row = rows[k];
    for (int64_t i = 0; i < n; ++i) sums[i] = static_cast<uint16_t>(sums[i] + row[i]);
  }
}

// kFactor 0: any.
template <int kChannels, int kFactor>
inline void means_of(const uint16_t* sums, int factor, float scale, uint8_t* out, int64_t n) {
  constexpr int kBlock = 256;
  int32_t total[kBlock * kChannels];
  if (kFactor) factor = kFactor;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min<int64_t>(kBlock, n - i);
    for (int64_t o = 0; o < count; ++o) {
      const uint16_t* const from = sums + (i + o) * factor * kChannels;
      for (int c = 0; c < kChannels; ++c) {
        int32_t sum = 0;
        for (int k = 0; k < factor; ++k) sum += from[k * kChannels + c];
        total[o * kChannels + c] = sum;
      }
    }
    uint8_t* const to = out + i * kChannels;
    for (int64_t e = 0; e < count * kChannels; ++e)
      to[e] = static_cast<uint8_t>(static_cast<int32_t>(round_even(static_cast<float>(total[e]) * scale)));
  }
}
template <int kChannels>
inline void means_of_channels(const uint16_t* sums, int factor, float scale, uint8_t* out, int64_t n) {
  switch (factor) {
    case 2: return means_of<kChannels, 2>(sums, factor, scale, out, n);
    case 3: return means_of<kChannels, 3>(sums, factor, scale, out, n);
    case 4: return means_of<kChannels, 4>(sums, factor, scale, out, n);
    default: return means_of<kChannels, 0>(sums, factor, scale, out, n);
  }
}
inline void means(const uint16_t* sums, int channels, int factor, float scale, uint8_t* out, int64_t n) {
  switch (channels) {
    case 1: return means_of_channels<1>(sums, factor, scale, out, n);
    case 2: return means_of_channels<2>(sums, factor, scale, out, n);
    case 3: return means_of_channels<3>(sums, factor, scale, out, n);
    default: return means_of_channels<4>(sums, factor, scale, out, n);
  }
}

#if PENSTOCK_TARGET_FLOATS
// Bytes of pixels so that those of two neighbors are beside each other: of 4 pixels of three channels, of 16 of one, of
// 4 of four.
template <int kChannels> inline __m256i pairs_beside() {
  if constexpr (kChannels == 3)
    return _mm256_setr_epi8(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, -1, -1, -1, -1, 0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11,
                            -1, -1, -1, -1);
  else if constexpr (kChannels == 4)
    return _mm256_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13,
                            10, 14, 11, 15);
  else
    return _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                            12, 13, 14, 15);
}
// The sums of two neighbors of 2 x kBytes bytes from p on, as 16 bits.
template <int kChannels, int kBytes> inline __m256i neighbor_sums(const uint8_t* p) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + kBytes));
  const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  return _mm256_maddubs_epi16(_mm256_shuffle_epi8(both, pairs_beside<kChannels>()), _mm256_set1_epi8(1));
}
#endif

template <int kChannels> inline void four(const uint8_t* a, const uint8_t* b, uint8_t* out, int64_t n) {
  int64_t e = 0;
  const int64_t all = n * kChannels;  // elements of results
#if PENSTOCK_TARGET_FLOATS
  // A step reads 4 bytes after those that it needs and writes 2, of which the next step or the loop below makes others.
  constexpr int kBytes = kChannels == 3 ? 12 : 16, kMade = kBytes / 2, kSpare = kChannels == 3 ? 2 : 0;
  const __m256i half = _mm256_set1_epi16(2);
  for (; e + 2 * kMade + kSpare <= all; e += 2 * kMade) {
    const __m256i sums =
        _mm256_add_epi16(neighbor_sums<kChannels, kBytes>(a + 2 * e), neighbor_sums<kChannels, kBytes>(b + 2 * e));
    const __m256i made = _mm256_srli_epi16(_mm256_add_epi16(sums, half), 2);
    const __m256i bytes = _mm256_packus_epi16(made, made);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + e), _mm256_castsi256_si128(bytes));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + e + kMade), _mm256_extracti128_si256(bytes, 1));
  }
#endif
  for (; e < all; ++e) {
    const int64_t o = e / kChannels, from = o * 2 * kChannels + (e - o * kChannels);
    out[e] = static_cast<uint8_t>((a[from] + a[from + kChannels] + b[from] + b[from + kChannels] + 2) >> 2);
  }
}
inline void means_of_four(const uint8_t* a, const uint8_t* b, int channels, uint8_t* out, int64_t n) {
  if (channels == 1) four<1>(a, b, out, n);
  else if (channels == 3) four<3>(a, b, out, n);
  else four<4>(a, b, out, n);
}

constexpr WholeMeans kMeans{&add_rows, &means, &means_of_four};
