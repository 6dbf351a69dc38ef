// SPDX-License-Identifier: Apache-2.0
// Samplers of 16-bit integers, whose sums are float64, included once per target with vectors. A vector has four
// numbers: those of a pixel with three or four channels, or one of each of four pixels. Products and sums are rounded
// each, as those of the twin.

PENSTOCK_ALWAYS __m256d blended_of(__m256d a, __m256d b, __m256d weight) {
  return _mm256_add_pd(a, _mm256_mul_pd(_mm256_sub_pd(b, a), weight));
}
PENSTOCK_ALWAYS __m256d weighted_of(const __m256d (&v)[4], const __m256d (&w)[4]) {
  __m256d sum = _mm256_mul_pd(v[0], w[0]);  // plus 0, which changes no number that is stored
  for (int i = 1; i < 4; ++i) sum = _mm256_add_pd(sum, _mm256_mul_pd(v[i], w[i]));
  return sum;
}
template <class T> PENSTOCK_ALWAYS __m256d four_numbers(__m128i v) {  // of its lower half
  return _mm256_cvtepi32_pd(std::is_signed_v<T> ? _mm_cvtepi16_epi32(v) : _mm_cvtepu16_epi32(v));
}
template <class T> PENSTOCK_ALWAYS __m256d four_numbers(const T* p) {
  return four_numbers<T>(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
// Four numbers to the lower half, rounded half to even and saturated.
template <class T> PENSTOCK_ALWAYS __m128i stored_numbers(__m256d v) {
  const __m128i whole = _mm256_cvtpd_epi32(v);  // far from the ends of int32
  return std::is_signed_v<T> ? _mm_packs_epi32(whole, whole) : _mm_packus_epi32(whole, whole);
}

// The weights of kLanes pixels, axis after axis: a loop without branches.
struct WideWeights {
  alignas(64) double of[4][kLanes];
};
template <Filter K> PENSTOCK_ALWAYS void find_wide_weights(const double* fractions, WideWeights& w) {
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (K == kLinear) {
      w.of[0][i] = fractions[i];
    } else {
      const CubicWeights<double> all = cubic_weights(fractions[i]);
      for (int k = 0; k < 4; ++k) w.of[k][i] = all.of[k];
    }
  }
}
template <class T, int C, Filter K>
PENSTOCK_ALWAYS __m128i wide_pixel(const T* in, int64_t stride, const WideWeights& x, const WideWeights& y, int i) {
  const auto weight = [&](const WideWeights& w, int k)
                          __attribute__((always_inline)) { return _mm256_set1_pd(w.of[k][i]); };
  if constexpr (K == kLinear) {
    const __m256d by_x = weight(x, 0);
    const auto row = [&](const T* p) __attribute__((always_inline)) {
      return blended_of(four_numbers<T>(p), four_numbers<T>(p + C), by_x);
    };
    return stored_numbers<T>(blended_of(row(in), row(in + stride), weight(y, 0)));
  } else {
    const __m256d by_x[4] = {weight(x, 0), weight(x, 1), weight(x, 2), weight(x, 3)};
    const __m256d by_y[4] = {weight(y, 0), weight(y, 1), weight(y, 2), weight(y, 3)};
    __m256d rows[4];
    for (int r = 0; r < 4; ++r, in += stride) {
      const __m256d v[4] = {four_numbers<T>(in), four_numbers<T>(in + C), four_numbers<T>(in + 2 * C),
                            four_numbers<T>(in + 3 * C)};
      rows[r] = weighted_of(v, by_x);
    }
    return stored_numbers<T>(weighted_of(rows, by_y));
  }
}
// Four pixels of one channel, from output i of kLanes on.
template <class T, Filter K>
PENSTOCK_ALWAYS __m128i wide_plane(const T* in, const int32_t* offset, int64_t stride, const WideWeights& x,
                                   const WideWeights& y, int i) {
  const auto weight = [&](const WideWeights& w, int k)
                          __attribute__((always_inline)) { return _mm256_load_pd(&w.of[k][i]); };
  const auto at = [&](int k) __attribute__((always_inline)) { return in + offset[i + k]; };
  if constexpr (K == kLinear) {
    const auto row = [&](int64_t by) __attribute__((always_inline)) {
      const auto two = [&](int k) __attribute__((always_inline)) {
        int32_t both;
        std::memcpy(&both, at(k) + by, sizeof both);
        return both;
      };
      const __m128i pairs = _mm_setr_epi32(two(0), two(1), two(2), two(3));
      const __m128i low = std::is_signed_v<T> ? _mm_srai_epi32(_mm_slli_epi32(pairs, 16), 16)
                                              : _mm_and_si128(pairs, _mm_set1_epi32(0xffff));
      const __m128i high = std::is_signed_v<T> ? _mm_srai_epi32(pairs, 16) : _mm_srli_epi32(pairs, 16);
      return blended_of(_mm256_cvtepi32_pd(low), _mm256_cvtepi32_pd(high), weight(x, 0));
    };
    return stored_numbers<T>(blended_of(row(0), row(stride), weight(y, 0)));
  } else {
    const __m256d by_x[4] = {weight(x, 0), weight(x, 1), weight(x, 2), weight(x, 3)};
    const __m256d by_y[4] = {weight(y, 0), weight(y, 1), weight(y, 2), weight(y, 3)};
    __m256d rows[4];
    for (int r = 0; r < 4; ++r) {
      const __m256d a = four_numbers<T>(at(0) + r * stride), b = four_numbers<T>(at(1) + r * stride);
      const __m256d c = four_numbers<T>(at(2) + r * stride), d = four_numbers<T>(at(3) + r * stride);
      const __m256d ab = _mm256_unpacklo_pd(a, b), cd = _mm256_unpacklo_pd(c, d);
      const __m256d ab_high = _mm256_unpackhi_pd(a, b), cd_high = _mm256_unpackhi_pd(c, d);
      const __m256d v[4] = {_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab_high, cd_high, 0x20),
                            _mm256_permute2f128_pd(ab, cd, 0x31), _mm256_permute2f128_pd(ab_high, cd_high, 0x31)};
      rows[r] = weighted_of(v, by_x);
    }
    return stored_numbers<T>(weighted_of(rows, by_y));
  }
}

template <class T, int C, Filter K> void wide_row(const Image& s, const Positions<double>& p, int n, void* out) {
  constexpr int kReads = C == 1 ? taps_of(K) : C * (taps_of(K) - 1) + 4;
  const Inside inside(s, C, kReads);
  const auto* in = static_cast<const T*>(s.data);
  const int32_t stride = s.source.width * C;
  auto* to = static_cast<T*>(out);
  int i = 0;
  for (; i + kLanes <= n; i += kLanes, to += kLanes * C) {
    alignas(64) int32_t offset[kLanes];
    const bool whole = find_offsets<C>(inside, p, i, stride, offset);
    const int64_t row_bytes = int64_t{stride} * p.downward * static_cast<int64_t>(sizeof(T));
    request_rows_ahead<pixels_of_request(C * sizeof(T))>(in, row_bytes, offset, kLanes);
    WideWeights x, y;
    find_wide_weights<K>(p.weight[0] + i, x), find_wide_weights<K>(p.weight[1] + i, y);
    for (int k = 0; k < kLanes; k += C == 1 && whole ? 4 : 1) {
      T* const pixel = to + k * C;
      __m128i v;
      if constexpr (C == 1) {
        if (whole) {
          v = wide_plane<T, K>(in, offset, stride, x, y, k);
          _mm_storel_epi64(reinterpret_cast<__m128i*>(pixel), v);
          continue;
        }
      }
      if (C == 1 || (!whole && !inside.holds(p.at[0][i + k], p.at[1][i + k]))) {
        sample_pixel(s, p, i + k, pixel);
        continue;
      }
      v = wide_pixel<T, C, K>(in + offset[k], stride, x, y, k);
      if (C == 4 || k + 1 < kLanes) _mm_storel_epi64(reinterpret_cast<__m128i*>(pixel), v);  // the next one overwrites
      else std::memcpy(pixel, &v, C * sizeof(T));
    }
  }
  for (; i < n; ++i, to += C) sample_pixel(s, p, i, to);
}
