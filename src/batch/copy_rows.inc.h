// SPDX-License-Identifier: Apache-2.0
// Rows of bytes in another order, by shuffles of vectors; included once per target by copy_rows.cpp. All functions do
// what fits their vectors, and return how much that is. They read and write nothing outside their rows.

#if PENSTOCK_TARGET_FLOATS
inline __m128i load_16(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline void store_16(char* p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v); }
// Of two places, one for each half of a vector.
inline __m256i load_twice(const char* low, const char* high) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(low)), load_16(high), 1);
}
inline void store_twice(char* low, char* high, __m256i v) {
  store_16(low, _mm256_castsi256_si128(v)), store_16(high, _mm256_extracti128_si256(v, 1));
}
inline __m256i repeated(const uint8_t mask[16]) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(mask)));
}
inline __m256i gathered(const __m256i v[3], const uint8_t masks[3][16]) {
  const __m256i a = _mm256_shuffle_epi8(v[0], repeated(masks[0])), b = _mm256_shuffle_epi8(v[1], repeated(masks[1]));
  return _mm256_or_si256(_mm256_or_si256(a, b), _mm256_shuffle_epi8(v[2], repeated(masks[2])));
}
#endif

#if PENSTOCK_TARGET_FLOATS
constexpr uintptr_t kWideStore = 4 * PENSTOCK_TARGET_FLOATS;
#endif
#if PENSTOCK_TARGET_FLOATS == 8
// Two blocks of 48 bytes, one in each half of three vectors, into memory that begins, or backward ends, at a vector.
inline int64_t shuffle_wide(const char* in, char* out, int64_t n, bool backward, const ByteOrder& order) {
  __m256i masks[3][3];
  for (int k = 0; k < 3; ++k)
    for (int r = 0; r < 3; ++r) masks[k][r] = repeated(order.part[k][r]);
  const int64_t low = backward ? 48 : 0, high = 48 - low;
  int64_t i = 0;
  for (; i + 96 <= n; i += 96) {
    __m256i v[3], w[3];
    for (int r = 0; r < 3; ++r) v[r] = load_twice(in + i + low + 16 * r, in + i + high + 16 * r);
    for (int k = 0; k < 3; ++k) {
      const __m256i two =
          _mm256_or_si256(_mm256_shuffle_epi8(v[0], masks[k][0]), _mm256_shuffle_epi8(v[1], masks[k][1]));
      w[k] = _mm256_or_si256(two, _mm256_shuffle_epi8(v[2], masks[k][2]));
    }
    auto* const to = reinterpret_cast<__m256i*>(backward ? out + n - 96 - i : out + i);
    _mm256_stream_si256(to, _mm256_permute2x128_si256(w[0], w[1], 0x20));
    _mm256_stream_si256(to + 1, _mm256_permute2x128_si256(w[2], w[0], 0x30));
    _mm256_stream_si256(to + 2, _mm256_permute2x128_si256(w[1], w[2], 0x31));
  }
  return i;
}
#elif PENSTOCK_TARGET_FLOATS == 16
// Into memory that begins, or backward ends, at a cache line: stores that cross lines were slower than those of
// 16 bytes.
inline int64_t shuffle_wide(const char* in, char* out, int64_t n, bool backward, const ByteOrder& order) {
  __m512i at[3], by[3];
  for (int k = 0; k < 3; ++k) at[k] = _mm512_load_si512(order.at[k]), by[k] = _mm512_load_si512(order.by[k]);
  int64_t i = 0;
  for (; i + 192 <= n; i += 192) {
    const __m512i a = _mm512_loadu_si512(in + i), b = _mm512_loadu_si512(in + i + 64),
                  c = _mm512_loadu_si512(in + i + 128);
    char* const to = backward ? out + n - 192 - i : out + i;
    for (int k = 0; k < 3; ++k) {
      const __m512i v = _mm512_permutex2var_epi16(_mm512_permutex2var_epi16(a, at[k], b), by[k], c);
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 64 * k), v);
    }
  }
  return i;
}
#endif

// Pieces of at most 16 bytes, whose bytes come in the order `order`. `backward`: the pieces of the output come in the
// reverse order, from out + n on: processors fetch ahead what is read upwards. A vector is written for each; what it
// holds beside its piece, the next one overwrites.
inline int64_t shuffle_row(const char* in, char* out, int64_t n, bool backward, const ByteOrder& order,
                           [[maybe_unused]] bool past_caches) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if (order.wide && past_caches && reinterpret_cast<uintptr_t>(backward ? out + n : out) % kWideStore == 0)
    i = shuffle_wide(in, out, n, backward, order);
  if (order.piece == 0) return i;
  const __m128i from = load_16(reinterpret_cast<const char*>(order.from));
  const int64_t piece = order.piece;
  if (backward)
    for (; i + 16 <= n; i += piece) store_16(out + n - 16 - i, _mm_shuffle_epi8(load_16(in + i), from));
  else
    for (; i + 16 <= n; i += piece) store_16(out + i, _mm_shuffle_epi8(load_16(in + i), from));
#else
  (void)in, (void)out, (void)n, (void)backward, (void)order;
#endif
  return i;
}

#if PENSTOCK_TARGET_FLOATS
inline __m128i gathered(const __m128i v[3], const uint8_t masks[3][16]) {
  const auto part = [&](int k) { return _mm_shuffle_epi8(v[k], load_16(reinterpret_cast<const char*>(masks[k]))); };
  return _mm_or_si128(_mm_or_si128(part(0), part(1)), part(2));
}
inline void split_sixteen(const char* p, char* const* planes, int64_t i) {
  const __m128i v[3] = {load_16(p), load_16(p + 16), load_16(p + 32)};
  for (int k = 0; k < 3; ++k) store_16(planes[k] + i, gathered(v, kToPlanes.at[k]));
}
// 11 to 15 pixels, such as a row of a patch: two vectors from the begin, and one that ends where they end.
inline void split_short(const char* in, char* const* planes, int64_t n) {
  alignas(16) static constexpr uint8_t kOneAfterOther[32] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const __m128i moved = _mm_set1_epi8(static_cast<char>(48 - 3 * n));
  const __m128i v[2] = {load_16(in), load_16(in + 16)}, last = load_16(in + 3 * n - 16);
  const __m128i down = load_16(reinterpret_cast<const char*>(kOneAfterOther) + n - 8);
  for (int k = 0; k < 3; ++k) {
    const auto mask = [&](int r) { return load_16(reinterpret_cast<const char*>(kToPlanes.at[k][r])); };
    const __m128i first = _mm_or_si128(_mm_shuffle_epi8(v[0], mask(0)), _mm_shuffle_epi8(v[1], mask(1)));
    const __m128i all = _mm_or_si128(first, _mm_shuffle_epi8(last, _mm_add_epi8(mask(2), moved)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(planes[k]), all);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(planes[k] + n - 8), _mm_shuffle_epi8(all, down));
  }
}
#endif

// Pixels of three bytes to planes.
inline int64_t split_threes(const char* in, char* const* planes, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 32 <= n; i += 32) {
    const char* p = in + 3 * i;
    const __m256i v[3] = {load_twice(p, p + 48), load_twice(p + 16, p + 64), load_twice(p + 32, p + 80)};
    for (int k = 0; k < 3; ++k)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(planes[k] + i), gathered(v, kToPlanes.at[k]));
  }
  for (; i + 16 <= n; i += 16) split_sixteen(in + 3 * i, planes, i);
  if (i == n || n < 11) return i;
  if (n < 16) split_short(in, planes, n);
  else split_sixteen(in + 3 * (n - 16), planes, n - 16);  // some pixels again
  return n;
#else
  (void)in, (void)planes, (void)n;
  return i;
#endif
}

// And back.
inline int64_t join_threes(const char* const* planes, char* out, int64_t n) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 32 <= n; i += 32) {
    __m256i v[3];
    for (int k = 0; k < 3; ++k) v[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes[k] + i));
    char* p = out + 3 * i;
    for (int k = 0; k < 3; ++k) store_twice(p + 16 * k, p + 48 + 16 * k, gathered(v, kToPixels.at[k]));
  }
#else
  (void)planes, (void)out, (void)n;
#endif
  return i;
}

// Elements 0 to 3, of three bytes, of n rows become elements of four rows; n does not reach the last two elements of a
// row of the target.
inline int64_t transpose_threes(const char* from, int64_t from_row, char* to, int64_t to_row, int64_t n) {
  int64_t k = 0;
#if PENSTOCK_TARGET_FLOATS
  const __m256i widen =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1));
  const __m256i narrow =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  for (; k + 8 <= n; k += 8) {
    __m256i v[4];
    for (int i = 0; i < 4; ++i) {
      const char* p = from + (k + i) * from_row;
      v[i] = _mm256_shuffle_epi8(load_twice(p, p + 4 * from_row), widen);
    }
    const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]);
    const __m256i c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    const __m256i w[4] = {_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c), _mm256_unpacklo_epi64(b, d),
                          _mm256_unpackhi_epi64(b, d)};
    for (int i = 0; i < 4; ++i) {
      char* p = to + i * to_row + 3 * k;
      store_twice(p, p + 12, _mm256_shuffle_epi8(w[i], narrow));
    }
  }
#else
  (void)from, (void)from_row, (void)to, (void)to_row, (void)n;
#endif
  return k;
}

// The pattern of 192 bytes; `to` is a multiple of 64. past_caches: the run is too large to be read again soon, so that
// it is written without loading its cache lines first.
inline void repeat(const char* pattern, char* to, int64_t patterns, bool past_caches) {
#if PENSTOCK_TARGET_FLOATS
  constexpr int kParts = 6;
  __m256i v[kParts];
  for (int k = 0; k < kParts; ++k) v[k] = _mm256_load_si256(reinterpret_cast<const __m256i*>(pattern) + k);
  auto* at = reinterpret_cast<__m256i*>(to);
  if (past_caches) {
    for (int64_t i = 0; i < patterns; ++i, at += kParts)
      for (int k = 0; k < kParts; ++k) _mm256_stream_si256(at + k, v[k]);
  } else {
    for (int64_t i = 0; i < patterns; ++i, at += kParts)
      for (int k = 0; k < kParts; ++k) _mm256_store_si256(at + k, v[k]);
  }
#else
  (void)past_caches;
  for (int64_t i = 0; i < patterns; ++i) std::memcpy(to + 192 * i, pattern, 192);
#endif
}

// A run of a copy that is too large to be read again soon. `ahead`: bytes to the run that is read next, and requested
// now; 0: the processor sees it by itself.
inline void copy_past_caches(const char* from, char* to, int64_t n, [[maybe_unused]] int64_t ahead) {
#if PENSTOCK_TARGET_FLOATS
  const int64_t head = std::min<int64_t>(n, -reinterpret_cast<intptr_t>(to) & 63);
  std::memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  if (ahead)
    for (int64_t k = 0; k < n; k += 64) __builtin_prefetch(from + ahead + k, 0, 2);
#if PENSTOCK_TARGET_FLOATS == 16
  for (; i + 64 <= n; i += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#else
  for (; i + 64 <= n; i += 64)
    for (int64_t k = 0; k < 64; k += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + k),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + k)));
#endif
  std::memcpy(to + i, from + i, static_cast<size_t>(n - i));
#else
  std::memcpy(to, from, static_cast<size_t>(n));
#endif
}

constexpr CopyRows kRows{&shuffle_row, &split_threes, &join_threes, &transpose_threes, &repeat, &copy_past_caches};
