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

// Writes whole vectors: up to 7 numbers beyond.
inline void make_weights(const Sinc& sinc, const Neighbors& n, float* to) {
  const float* const table = sinc.table;
  const auto from = static_cast<int32_t>(n.first - n.whole);
#if PENSTOCK_TARGET_FLOATS
  const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), ends = _mm256_set1_epi32(sinc.last);
  const __m256 fraction = _mm256_set1_ps(n.fraction), positive = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
  for (int i = 0; i < n.count; i += 8) {
    const __m256 place = _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_set1_epi32(from + i), steps));
    const __m256 x = _mm256_mul_ps(_mm256_and_ps(_mm256_sub_ps(place, fraction), positive), _mm256_set1_ps(sinc.scale));
    const __m256i whole = _mm256_cvttps_epi32(x), low = _mm256_min_epi32(whole, ends);
    const __m256 part = _mm256_sub_ps(x, _mm256_cvtepi32_ps(whole));
    int32_t places[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), low);
    __m128 at[2], after[2];
    for (int k = 0; k < 2; ++k) load_pairs(table, places + 4 * k, at[k], after[k]);
    const __m256 a = _mm256_set_m128(at[1], at[0]), b = _mm256_set_m128(after[1], after[0]);
    const __m256 sum = _mm256_add_ps(a, _mm256_mul_ps(part, _mm256_sub_ps(b, a)));
    const __m256 weight = _mm256_mul_ps(sum, _mm256_set1_ps(sinc.gain));
    _mm256_storeu_ps(to + i, _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(whole, ends)), weight));
  }
#else
  for (int i = 0; i < n.count; ++i) {
    const float x = __builtin_fabsf(static_cast<float>(from + i) - n.fraction) * sinc.scale;
    const auto low = static_cast<int32_t>(x);
    const float part = x - static_cast<float>(low);
    to[i] = low > sinc.last ? 0.0f : (table[low] + part * (table[low + 1] - table[low])) * sinc.gain;
  }
#endif
}

typedef float Eight __attribute__((vector_size(32)));
inline Eight eight(const float* p) {
  Eight v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
// The same of a filter that is not stretched: all neighbors lie at the same part of a step.
inline void weights_of_rows(const Sinc& sinc, const Neighbors& n, float* to) {
  const float place = n.fraction * sinc.scale;
  const auto step = static_cast<int>(place);
  const float* const row = sinc.rows + step * sinc.row_length + (n.first - n.whole + sinc.lobes);
  const float part = place - static_cast<float>(step);
  for (int i = 0; i < n.count; i += 8) {
    const Eight low = eight(row + i), high = eight(row + i + sinc.row_length);
    const Eight weights = low + part * (high - low);
    std::memcpy(to + i, &weights, sizeof weights);
  }
}

typedef float Four __attribute__((vector_size(16)));

inline Eight product(const float* a, const float* b) { return eight(a) * eight(b); }
inline Four joined_halves(const Eight& part) {
  Four half[2];
  std::memcpy(half, &part, sizeof part);
  return half[0] + half[1];
}
inline float with_rest(float sum, const float* v, const float* weights, int from, int count) {
  for (int i = from; i < count; ++i) sum += weights[i] * v[i];
  return sum;
}

// Eight partial sums, joined in a fixed order; the rest of the elements one by one.
inline float weighed(const float* __restrict v, const float* __restrict weights, int count) {
  Eight part = {};
  const int whole = count / 8 * 8;
  for (int i = 0; i < whole; i += 8) part += product(weights + i, v + i);
  const Four joined = joined_halves(part);
  return with_rest((joined[0] + joined[1]) + (joined[2] + joined[3]), v, weights, whole, count);
}

// The sums of neighboring pairs of a, then of b.
inline Four pairs(const Four& a, const Four& b) {
#if PENSTOCK_TARGET_FLOATS
  return _mm_hadd_ps(a, b);
#else
  return Four{a[0] + a[1], a[2] + a[3], b[0] + b[1], b[2] + b[3]};
#endif
}

// Four sums as weighed() makes them, of the same weights: what joins one of them joins all.
inline void weighed_four(const float* __restrict v, int64_t advance, const float* __restrict weights, int count,
                         float* __restrict out, int64_t stride) {
  Eight part[4] = {};
  const int whole = count / 8 * 8;
  for (int i = 0; i < whole; i += 8)
    for (int k = 0; k < 4; ++k) part[k] += product(weights + i, v + k * advance + i);
  const Four first = pairs(joined_halves(part[0]), joined_halves(part[1]));
  const Four second = pairs(joined_halves(part[2]), joined_halves(part[3])), sums = pairs(first, second);
  for (int k = 0; k < 4; ++k) out[k * stride] = sums[k];
  if (whole == count) return;
  for (int k = 0; k < 4; ++k) out[k * stride] = with_rest(sums[k], v + k * advance, weights, whole, count);
}

// The k-th period reads the signal from k * advance on.
inline void run_phases(const float* v, int64_t advance, const Phase* phases, int64_t count, int64_t periods, float* out,
                       int64_t stride) {
  int64_t k = 0;
  for (; k + 4 <= periods; k += 4, v += 4 * advance, out += 4 * count * stride)
    for (int64_t p = 0; p < count; ++p)
      weighed_four(v + phases[p].first, advance, phases[p].weights, phases[p].count, out + p * stride, count * stride);
  for (; k < periods; ++k, v += advance)
    for (int64_t p = 0; p < count; ++p, out += stride)
      *out = weighed(v + phases[p].first, phases[p].weights, phases[p].count);
}
