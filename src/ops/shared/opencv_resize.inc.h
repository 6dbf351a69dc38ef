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
// Pixels of 3 or 4 bytes with weights of 16 bits: two neighbors at once. It writes 4 sums for each pixel.
template <int taps, int channels>
void sum_byte_pixels(const uint8_t* row, int64_t width, const int32_t* first, const int32_t* weights, int64_t n,
                     int32_t* sums) {
  const __m128i order = channels == 3 ? _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1)
                                      : _mm_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
  for (int64_t x = 0; x < n; ++x, weights += taps, sums += channels) {
    const int64_t at = first[x];
    if (at < 0 || (at + taps - 2) * channels + 8 > width * channels) {  // 8 bytes are read
      sum_pixels<taps, channels>(row, width, channels, first + x, weights, 1, sums);
      continue;
    }
    __m128i sum = _mm_setzero_si128();
    for (int k = 0; k < taps; k += 2) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + (at + k) * channels));
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights + k));
      const __m128i both = _mm_shuffle_epi32(_mm_packs_epi32(pair, pair), 0);
      sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_shuffle_epi8(bytes, order), both));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums), sum);
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
