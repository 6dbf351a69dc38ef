// SPDX-License-Identifier: Apache-2.0
// Included once per target by fold.h. The compiler vectorizes the loops: "ivdep" says that a row is another one, or the
// same from an element on that has not been written yet.

template <class Rule, class T> bool load(void* lanes, const void* elements, int64_t n) {
  using L = LaneOf<T>;
  L* to = static_cast<L*>(lanes);
  const T* from = static_cast<const T*>(elements);
  if constexpr (!kHasNan<T>) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    return false;
  } else {
    const L identity = Rule::template identity<L>();
    int64_t i = 0;
    int nan = 0;
#if PENSTOCK_TARGET_FLOATS
    if constexpr (std::is_same_v<T, Half>)
      for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
        const __m256 bad = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
        nan |= _mm256_movemask_ps(bad);
        _mm256_storeu_ps(to + i, _mm256_blendv_ps(v, _mm256_set1_ps(identity), bad));
      }
#endif
    for (; i < n; ++i) {
      const L v = static_cast<L>(from[i]);
      nan |= v != v;
      to[i] = v == v ? v : identity;
    }
    return nan;
  }
}

template <class Rule, class T> bool gather(void* lanes, const void* row, const int64_t* indices, int64_t n) {
  using L = LaneOf<T>;
  L* to = static_cast<L*>(lanes);
  const T* from = static_cast<const T*>(row);
  const L identity = Rule::template identity<L>();
  bool nan = false;
  for (int64_t i = 0; i < n; ++i) {
    const L v = indices[i] < 0 ? identity : static_cast<L>(from[indices[i]]);
    nan |= v != v;
    to[i] = v == v ? v : identity;
  }
  return nan;
}

template <class T> bool has_nan(const void* elements, int64_t n) {
  const T* v = static_cast<const T*>(elements);
  int nan = 0;
  for (int64_t i = 0; i < n; ++i) nan |= v[i] != v[i];
  return nan;
}

template <class T> void store(void* elements, const void* lanes, int64_t n) {
  T* to = static_cast<T*>(elements);
  const LaneOf<T>* from = static_cast<const LaneOf<T>*>(lanes);
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (std::is_same_v<T, Half>)
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

template <class T> void keep_nan(void* elements, const void* row, const int64_t* indices, int64_t n) {
  T* to = static_cast<T*>(elements);
  const T* from = static_cast<const T*>(row);
  for (int64_t i = 0; i < n; ++i)
    if (const T v = from[indices[i]]; v != v) to[i] = v;
}

template <class Rule, class L> void join(void* to, const void* a, const void* b, int64_t n) {
  L* o = static_cast<L*>(to);
  const L *p = static_cast<const L*>(a), *q = static_cast<const L*>(b);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = Rule::combine(p[i], q[i]);
}

// `ahead` is what the caller writes next: fetched here, it is there when the row is folded down.
template <class Rule, class L>
void join_three(void* to, const void* from, int64_t second, int64_t third, int64_t n, const void* ahead) {
  constexpr int64_t kPart = 256 / sizeof(L), kLine = 64;
  L* o = static_cast<L*>(to);
  const L *p = static_cast<const L*>(from), *q = p + second, *r = p + third;
  const std::byte* next = static_cast<const std::byte*>(ahead);
  for (int64_t part = 0; part < n; part += kPart) {
    if (next)
      for (int k = 0; k < 4; ++k, next += kLine) __builtin_prefetch(next, 1);
    const int64_t end = std::min(part + kPart, n);
#pragma GCC ivdep
    for (int64_t i = part; i < end; ++i) o[i] = Rule::combine(Rule::combine(p[i], q[i]), r[i]);
  }
}

template <class Rule, class L> void two_rows(void* const* to, const void* const* rows, int64_t n) {
  L *o = static_cast<L*>(to[0]), *q = static_cast<L*>(to[1]);
  const L *a = static_cast<const L*>(rows[0]), *b = static_cast<const L*>(rows[1]);
  const L *c = static_cast<const L*>(rows[2]), *d = static_cast<const L*>(rows[3]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const L both = Rule::combine(b[i], c[i]);
    o[i] = Rule::combine(a[i], both);
    q[i] = Rule::combine(both, d[i]);
  }
}

template <class Rule, class L>
void next_row(void* to, void* prefix, const void* row, const void* suffix, int64_t n) {
  L *o = static_cast<L*>(to), *p = static_cast<L*>(prefix);
  const L *r = static_cast<const L*>(row), *s = static_cast<const L*>(suffix);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const L both = Rule::combine(p[i], r[i]);
    p[i] = both;
    o[i] = Rule::combine(s[i], both);
  }
}

template <class Rule, class T, class L = LaneOf<T>>
inline constexpr FoldLoops kLoops{sizeof(T),
                                  sizeof(L),
                                  &load<Rule, T>,
                                  &gather<Rule, T>,
                                  kHasNan<T> ? &has_nan<T> : nullptr,
                                  std::is_same_v<T, L> ? nullptr : &store<T>,
                                  kHasNan<T> ? &keep_nan<T> : nullptr,
                                  &join<Rule, L>,
                                  &join_three<Rule, L>,
                                  &two_rows<Rule, L>,
                                  &next_row<Rule, L>};
