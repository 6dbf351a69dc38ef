// SPDX-License-Identifier: Apache-2.0
// Included once per target by box_rows.cpp. The compiler vectorizes the loops: rows are different ones, or `to` is one
// of those that are read, at the same place.

template <class T, class L> void load(void* lanes, const void* elements, int64_t n) {
  L* to = static_cast<L*>(lanes);
  const T* from = static_cast<const T*>(elements);
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (std::is_same_v<T, Half>)
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
#pragma GCC ivdep
  for (; i < n; ++i) to[i] = box_lane<T, L>(from[i]);
}

template <class T, class L, int count> void at_once(void* lanes, const void* elements, int64_t step, int64_t n) {
  L* to = static_cast<L*>(lanes);
  if constexpr (count == 1) return load<T, L>(lanes, elements, n);
  const T* from = static_cast<const T*>(elements);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    L v[count];
    for (int k = 0; k < count; ++k) v[k] = box_lane<T, L>(from[i + k * step]);
    to[i] = box_sum<count>(v, 1);
  }
}

#if PENSTOCK_TARGET_FLOATS
constexpr int64_t kWords = 2 * PENSTOCK_TARGET_FLOATS;
typedef uint16_t Words __attribute__((vector_size(kWords * 2)));
inline Words words_at(const uint16_t* from) {
  Words v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <bool even> inline Words mean_of_words(Words sum, const BoxMean& m) {
  const Words x = sum + static_cast<uint16_t>(m.count >> 1);
#if PENSTOCK_TARGET_FLOATS == 16
  Words q = (Words)_mm512_mulhi_epu16((__m512i)x, _mm512_set1_epi16(static_cast<int16_t>(m.part)));
#else
  Words q = (Words)_mm256_mulhi_epu16((__m256i)x, _mm256_set1_epi16(static_cast<int16_t>(m.part)));
#endif
  q >>= m.shift;
  if (even) q -= (Words)(x == q * static_cast<uint16_t>(m.count)) & q & 1;
  return q;
}
// The means of sum(i), ..., of words, as bytes; returns how many.
template <bool even, class Sum> inline int64_t means_of_words(uint8_t* to, const BoxMean& mean, uint8_t flip, int64_t n,
                                                              const Sum& sum) {
  const BoxMean m = mean;
  int64_t i = 0;
  for (; i + 2 * kWords <= n; i += 2 * kWords) {
    const Words a = mean_of_words<even>(sum(i), m), b = mean_of_words<even>(sum(i + kWords), m);
#if PENSTOCK_TARGET_FLOATS == 16
    const __m256i low = _mm512_cvtepi16_epi8((__m512i)a), high = _mm512_cvtepi16_epi8((__m512i)b);
    const __m256i signs = _mm256_set1_epi8(static_cast<char>(flip));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_xor_si256(low, signs));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + kWords), _mm256_xor_si256(high, signs));
#else
    const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi16((__m256i)a, (__m256i)b), 0xd8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_xor_si256(both, _mm256_set1_epi8(static_cast<char>(flip))));
#endif
  }
  return i;
}
template <class T, class Sum> inline int64_t means_of_words(T* to, const BoxMean& m, int64_t n, const Sum& sum) {
  auto* const bytes = reinterpret_cast<uint8_t*>(to);
  constexpr uint8_t flip = std::is_signed_v<T> ? 0x80 : 0;
  return m.even ? means_of_words<true>(bytes, m, flip, n, sum) : means_of_words<false>(bytes, m, flip, n, sum);
}
#endif

template <class T, class L> void store(void* elements, const void* lanes, const BoxMean& mean, int64_t n) {
  T* to = static_cast<T*>(elements);
  const L* from = static_cast<const L*>(lanes);
  const BoxMean m = mean;
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (sizeof(L) == 2) i = means_of_words(to, m, n, [&](int64_t at) { return words_at(from + at); });
#endif
#pragma GCC ivdep
  for (; i < n; ++i) to[i] = box_mean<T>(from[i], m);
}

// Rows are of A, which may be narrower than their sums.
template <class T, class A, class L, int count>
void down(void* elements, const void* const* rows, const BoxMean& mean, int64_t n) {
  T* to = static_cast<T*>(elements);
  const A* row[count];
  for (int k = 0; k < count; ++k) row[k] = static_cast<const A*>(rows[k]);
  const BoxMean m = mean;
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (sizeof(L) == 2)
    i = means_of_words(to, m, n, [&](int64_t at) {
      Words sum = words_at(row[0] + at);
      for (int k = 1; k < count; ++k) sum += words_at(row[k] + at);
      return sum;
    });
#endif
#pragma GCC ivdep
  for (; i < n; ++i) {
    L v[count];
    for (int k = 0; k < count; ++k) v[k] = static_cast<L>(row[k][i]);
    to[i] = box_mean<T>(box_sum<count>(v, 1), m);
  }
}

template <class L> void four(void* to, const void* a, const void* b, const void* c, const void* d, int64_t n) {
  L* o = static_cast<L*>(to);
  const L *p = static_cast<const L*>(a), *q = static_cast<const L*>(b);
  const L *r = static_cast<const L*>(c), *s = static_cast<const L*>(d);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<L>(static_cast<L>(p[i] + q[i]) + static_cast<L>(r[i] + s[i]));
}

// Joins one to three windows with those after them.
template <class L, int count, bool more> void some(void* to, const void* a, const void* b, const void* c, int64_t n) {
  L* o = static_cast<L*>(to);
  const L *p = static_cast<const L*>(a), *q = static_cast<const L*>(b), *r = static_cast<const L*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    L v = p[i];
    if constexpr (count > 1) v = static_cast<L>(v + q[i]);
    if constexpr (count == 3) v = static_cast<L>(v + (more ? static_cast<L>(r[i] + o[i]) : r[i]));
    if constexpr (count < 3 && more) v = static_cast<L>(v + o[i]);
    o[i] = v;
  }
}

template <class A, class L> void add(void* sums, const void* row, int64_t n) {
  L* o = static_cast<L*>(sums);
  const A* p = static_cast<const A*>(row);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<L>(o[i] + p[i]);
}

template <class T, class A, class L>
void slide(void* elements, void* sums, const void* entering, const void* leaving, const BoxMean& mean, int64_t n) {
  T* to = static_cast<T*>(elements);
  L* o = static_cast<L*>(sums);
  const A *p = static_cast<const A*>(entering), *q = static_cast<const A*>(leaving);
  const BoxMean m = mean;
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (sizeof(L) == 2)
    i = means_of_words(to, m, n, [&](int64_t at) {
      const Words sum = words_at(o + at) + words_at(p + at), left = sum - words_at(q + at);
      std::memcpy(o + at, &left, sizeof left);
      return sum;
    });
#endif
#pragma GCC ivdep
  for (; i < n; ++i) {
    const auto sum = static_cast<L>(o[i] + p[i]);
    to[i] = box_mean<T>(sum, m);
    o[i] = static_cast<L>(sum - q[i]);
  }
}

template <class T, class A, class L> inline constexpr BoxLoops kLoops{
    sizeof(T),
    sizeof(A),
    sizeof(L),
    std::is_integral_v<T>,
    std::is_same_v<T, A> ? nullptr : &load<T, A>,
    {&at_once<T, A, 1>, &at_once<T, A, 2>, &at_once<T, A, 3>, &at_once<T, A, 4>, &at_once<T, A, 5>, &at_once<T, A, 6>,
     &at_once<T, A, 7>},
    {&down<T, A, L, 1>, &down<T, A, L, 2>, &down<T, A, L, 3>, &down<T, A, L, 4>, &down<T, A, L, 5>, &down<T, A, L, 6>,
     &down<T, A, L, 7>},
    &store<T, L>,
    &four<A>,
    {{&some<A, 1, false>, &some<A, 1, true>},
     {&some<A, 2, false>, &some<A, 2, true>},
     {&some<A, 3, false>, &some<A, 3, true>}},
    &add<A, L>,
    &slide<T, A, L>};
