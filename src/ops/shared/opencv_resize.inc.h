// SPDX-License-Identifier: Apache-2.0
// Rows of OpenCV's resize, included once per target by opencv_resize.cpp.

// The sums of a row of `width` pixels; most have `channels` elements, 0: `step`.
template <int taps, int channels, class In, class W>
void sum_pixels(const In* row, int64_t width, int64_t step, const int32_t* first, const W* weights, int64_t n,
                OpencvResizeRule::SumOf<In>* sums) {
  if (channels) step = channels;
  for (int64_t x = 0; x < n; ++x, weights += taps, sums += step) {
    const int64_t at = first[x];
    if (at >= 0 && at + taps <= width) {
      for (int64_t c = 0; c < step; ++c) sums[c] = OpencvResizeRule::across<taps>(row + at * step + c, step, weights);
    } else {
      for (int64_t c = 0; c < step; ++c)
        sums[c] = OpencvResizeRule::across_edge<taps>(row + c, at, width, step, weights);
    }
  }
}
#if PENSTOCK_TARGET_FLOATS
// Pixels of 3 or 4 bytes: two pixels of the result at once, one in each half of a vector, and two neighbors of each. It
// writes 4 sums for each pixel.
template <int taps, int channels>
void sum_byte_pixels(const uint8_t* row, int64_t width, const int32_t* first, const int16_t* weights, int64_t n,
                     int32_t* sums) {
  constexpr int together = taps == 2 ? 2 : 4;  // neighbors that are read at once
  constexpr int c = channels, last = channels == 3 ? -1 : 1;
  const auto pairs = [](int at) {
    const int end = last < 0 ? -1 : at + 3;
    return _mm256_broadcastsi128_si256(_mm_setr_epi8(at, -1, at + c, -1, at + 1, -1, at + 1 + c, -1, at + 2, -1,
                                                     at + 2 + c, -1, end, -1, last < 0 ? -1 : end + c, -1));
  };
  const __m256i near = pairs(0), far = pairs(together == 4 ? 2 * c : 0);
  const auto holds = [&](int64_t at) {
    return at >= 0 && (at + taps - together) * c + (together == 4 ? 16 : 8) <= width * c;
  };
  const auto load = [](const uint8_t* p) {
    const auto* const at = reinterpret_cast<const __m128i*>(p);
    return together == 4 ? _mm_loadu_si128(at) : _mm_loadl_epi64(at);
  };
  const auto both = [](__m128i low, __m128i high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  };
  int64_t x = 0;
  while (x < n) {
    if (x + 2 > n || !holds(first[x]) || !holds(first[x + 1])) {
      sum_pixels<taps, channels>(row, width, channels, first + x, weights + x * taps, 1, sums + x * c);
      ++x;
      continue;
    }
    const uint8_t *const a = row + int64_t{first[x]} * c, *const b = row + int64_t{first[x + 1]} * c;
    const int16_t* const w = weights + x * taps;
    __m256i sum = _mm256_setzero_si256();
    for (int k = 0; k < taps; k += together) {
      const __m256i bytes = both(load(a + k * c), load(b + k * c));
      const auto add = [&](const __m256i& order, __m256i weight) {
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(bytes, order), weight));
      };
      if constexpr (together == 4) {
        const __m256i four = both(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(w + k)),
                                  _mm_loadl_epi64(reinterpret_cast<const __m128i*>(w + taps + k)));
        add(near, _mm256_shuffle_epi32(four, 0x00)), add(far, _mm256_shuffle_epi32(four, 0x55));
      } else {
        const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(w));
        add(near, both(_mm_shuffle_epi32(four, 0x00), _mm_shuffle_epi32(four, 0x55)));
      }
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + x * c), _mm256_castsi256_si128(sum));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + (x + 1) * c), _mm256_extracti128_si256(sum, 1));
    x += 2;
  }
}
#endif
template <int taps, class In, class W>
void sum_row(const In* row, int64_t width, int64_t channels, const int32_t* first, const W* weights, int64_t n,
             OpencvResizeRule::SumOf<In>* sums) {
#if PENSTOCK_TARGET_FLOATS
  if constexpr (std::is_same_v<In, uint8_t>) {
    if (channels == 3) return sum_byte_pixels<taps, 3>(row, width, first, weights, n, sums);
    if (channels == 4) return sum_byte_pixels<taps, 4>(row, width, first, weights, n, sums);
  }
#endif
  if (channels == 1) sum_pixels<taps, 1>(row, width, channels, first, weights, n, sums);
  else if (channels == 3) sum_pixels<taps, 3>(row, width, channels, first, weights, n, sums);
  else if (channels == 4) sum_pixels<taps, 4>(row, width, channels, first, weights, n, sums);
  else sum_pixels<taps, 0>(row, width, channels, first, weights, n, sums);
}
// The elements [begin, end) of a row of the result.
template <int taps, bool vector, class Out, class Sum>
void join_rows(const Sum* const* rows, const float* weights, int64_t begin, int64_t end, Out* out) {
  const Sum* from[taps];
  float w[taps];
  for (int k = 0; k < taps; ++k) from[k] = rows[k], w[k] = weights[k];
  for (int64_t i = begin; i < end; ++i) {
    Sum each[taps];
    for (int k = 0; k < taps; ++k) each[k] = from[k][i];
    out[i] = OpencvResizeRule::down<Out, taps>(each, w, vector);
  }
}
// The same of INTER_LINEAR_EXACT: sums of `bits` binary digits, and a result that has none.
template <class In> void sum_exact_row(const In* row, int64_t width, int64_t channels, const int32_t* first,
                                       const float* weights, int64_t n, int64_t one, int64_t* sums) {
  for (int64_t x = 0; x < n; ++x, sums += channels) {
    const In* const a = row + first[x] * channels;
    const In* const b = first[x] + 1 < width ? a + channels : a;
    for (int64_t c = 0; c < channels; ++c)
      sums[c] = OpencvExactRule::between<int64_t>(a[c], b[c], static_cast<int64_t>(weights[2 * x + 1]), one);
  }
}
template <int bits, class Out, class Sum>
void join_exact_rows(const Sum* first, const Sum* second, Sum weight, int64_t n, Out* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Out>(
        (OpencvExactRule::between<Sum>(first[i], second[i], weight, Sum{1} << bits) + (Sum{1} << (2 * bits - 1))) >>
        (2 * bits));
}
