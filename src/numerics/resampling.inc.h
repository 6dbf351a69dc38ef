// SPDX-License-Identifier: Apache-2.0
// Included once per target by resampling.cpp. Weights and sums are those of ResampleRule (ops/audio_resample.cpp).

#if PENSTOCK_TARGET_FLOATS
// Numbers at four places, and those after them. Faster than gathers, which processors were made to slow down.
inline void load_pairs(const float* table, const int32_t* places, __m128& at, __m128& after) {
  const auto two = [table](int32_t i, int32_t j) {
    const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(table + i));
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(table + j));
  };
  const __m128 first = two(places[0], places[1]), second = two(places[2], places[3]);
  at = _mm_shuffle_ps(first, second, 0x88), after = _mm_shuffle_ps(first, second, 0xDD);
}
#endif

// Writes whole vectors: up to 7 numbers beyond. `last`: the table's place of the end of the sinc.
inline void make_weights(const float* table, int last, const Neighbors& n, float* to) {
  const auto from = static_cast<int32_t>(n.first - n.whole);
#if PENSTOCK_TARGET_FLOATS
  const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), ends = _mm256_set1_epi32(last);
  const __m256 fraction = _mm256_set1_ps(n.fraction), positive = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  for (int i = 0; i < n.count; i += 8) {
    const __m256 place = _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_set1_epi32(from + i), steps));
    const __m256 x = _mm256_mul_ps(_mm256_and_ps(_mm256_sub_ps(place, fraction), positive), _mm256_set1_ps(kSteps));
    const __m256i whole = _mm256_cvttps_epi32(x), low = _mm256_min_epi32(whole, ends);
    const __m256 part = _mm256_sub_ps(x, _mm256_cvtepi32_ps(whole));
    int32_t places[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), low);
    __m128 at[2], after[2];
    for (int k = 0; k < 2; ++k) load_pairs(table, places + 4 * k, at[k], after[k]);
    const __m256 a = _mm256_set_m128(at[1], at[0]), b = _mm256_set_m128(after[1], after[0]);
    const __m256 weight = _mm256_add_ps(a, _mm256_mul_ps(part, _mm256_sub_ps(b, a)));
    _mm256_storeu_ps(to + i, _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(whole, ends)), weight));
  }
#else
  for (int i = 0; i < n.count; ++i) {
    const float x = __builtin_fabsf(static_cast<float>(from + i) - n.fraction) * kSteps;
    const auto low = static_cast<int32_t>(x);
    const float part = x - static_cast<float>(low);
    to[i] = low > last ? 0.0f : table[low] + part * (table[low + 1] - table[low]);
  }
#endif
}

// Eight partial sums, joined in a fixed order; the rest of the elements one by one.
inline float weighed(const float* __restrict v, const float* __restrict weights, int count) {
  typedef float Eight __attribute__((vector_size(32)));
  typedef float Four __attribute__((vector_size(16)));
  Eight part = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    Eight a, b;
    std::memcpy(&a, weights + i, sizeof a);
    std::memcpy(&b, v + i, sizeof b);
    part += a * b;
  }
  Four half[2];
  std::memcpy(half, &part, sizeof part);
  const Four joined = half[0] + half[1];
  float sum = (joined[0] + joined[1]) + (joined[2] + joined[3]);
  for (; i < count; ++i) sum += weights[i] * v[i];
  return sum;
}
