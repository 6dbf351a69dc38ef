// SPDX-License-Identifier: Apache-2.0
// Included once per target by stencil_rows.cpp: elements as float32, and back.

template <class T> void load(float* to, const void* elements, int64_t n) {
  const T* from = static_cast<const T*>(elements);
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (std::is_same_v<T, Half>)
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
#pragma GCC ivdep
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
template <class T> void store(void* elements, const float* from, int64_t n) {
  T* to = static_cast<T*>(elements);
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  if constexpr (std::is_same_v<T, Half>)
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#pragma GCC ivdep
  for (; i < n; ++i) to[i] = stored<T>(from[i]);
}
template <class T> constexpr Conversions kConversions{&load<T>, &store<T>};
