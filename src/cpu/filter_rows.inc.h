// SPDX-License-Identifier: Apache-2.0
// Included once per target by filter_rows.cpp.

#if PENSTOCK_TARGET_FLOATS == 16
using Wide = __m512;
constexpr int kWide = 16;
inline Wide load_wide(const float* p) { return _mm512_loadu_ps(p); }
inline Wide load_wide(const uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline Wide load_wide(const uint16_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
inline Wide repeat(const float* p) { return _mm512_set1_ps(*p); }
inline Wide multiply(Wide a, Wide b) { return _mm512_mul_ps(a, b); }
inline Wide multiply_add(Wide a, Wide b, Wide c) { return _mm512_fmadd_ps(a, b, c); }
inline void store_wide(float* p, Wide v) { _mm512_storeu_ps(p, v); }
inline void stream_wide(float* p, Wide v) { _mm512_stream_ps(p, v); }
#elif PENSTOCK_TARGET_FLOATS
using Wide = __m256;
constexpr int kWide = 8;
inline Wide load_wide(const float* p) { return _mm256_loadu_ps(p); }
inline Wide load_wide(const uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline Wide load_wide(const uint16_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline Wide repeat(const float* p) { return _mm256_broadcast_ss(p); }
inline Wide multiply(Wide a, Wide b) { return _mm256_mul_ps(a, b); }
inline Wide multiply_add(Wide a, Wide b, Wide c) { return _mm256_fmadd_ps(a, b, c); }
inline void store_wide(float* p, Wide v) { _mm256_storeu_ps(p, v); }
inline void stream_wide(float* p, Wide v) { _mm256_stream_ps(p, v); }
#endif

// acc[i] = sum over k of weight[k] * row(k)[i], in the order of k; sums stay in registers. Before each block of sums it
// calls ahead(i, count).
template <class Row, class Ahead>
inline void weighted_rows(Row row, const float* weight, int taps, float* acc, int64_t n, bool more, Ahead ahead) {
  int64_t i = 0;
#if PENSTOCK_TARGET_FLOATS
  for (; i + 4 * kWide <= n; i += 4 * kWide) {
    Wide s[4];
    int k = 0;
    ahead(i, 4 * kWide);
    if (more) {
      for (int j = 0; j < 4; ++j) s[j] = load_wide(acc + i + j * kWide);
    } else {
      const Wide w = repeat(weight);
      const auto* p = row(0) + i;
      for (int j = 0; j < 4; ++j) s[j] = multiply(w, load_wide(p + j * kWide));
      k = 1;
    }
    for (; k < taps; ++k) {
      const Wide w = repeat(weight + k);
      const auto* p = row(k) + i;
      for (int j = 0; j < 4; ++j) s[j] = multiply_add(w, load_wide(p + j * kWide), s[j]);
    }
    for (int j = 0; j < 4; ++j) store_wide(acc + i + j * kWide, s[j]);
  }
  for (; i + kWide <= n; i += kWide) {
    Wide s = more ? load_wide(acc + i) : multiply(repeat(weight), load_wide(row(0) + i));
    for (int k = more ? 0 : 1; k < taps; ++k) s = multiply_add(repeat(weight + k), load_wide(row(k) + i), s);
    store_wide(acc + i, s);
  }
#endif
  for (; i < n; ++i) {
    float s = more ? acc[i] : weight[0] * static_cast<float>(row(0)[i]);
    for (int k = more ? 0 : 1; k < taps; ++k) s = fma(weight[k], static_cast<float>(row(k)[i]), s);
    acc[i] = s;
  }
}

template <class T>
void vertical(const T* const* rows, const float* weight, int taps, float* acc, int64_t n, bool more,
              const NextRows<T>& next) {
  const auto request = [&next](int64_t i, int count) __attribute__((always_inline)) {
    for (int r = 0; r < next.count; ++r)
      for (int at = 0; at < count; at += 64 / sizeof(T)) __builtin_prefetch(next.rows[r] + i + at);
  };
  weighted_rows([rows](int k) { return rows[k]; }, weight, taps, acc, n, more, request);
}

inline void convolve(const float* in, int64_t hop, const float* weight, int taps, float* out, int64_t n) {
  weighted_rows([in, hop](int k) { return in + k * hop; }, weight, taps, out, n, false, [](int64_t, int) {});
}

// kPixels: the results are pixels at planes[0], else planes.
template <int kChannels, bool kPixels = false>
void horizontal_plain(const float* acc, int channels, const int32_t* base, int step, const float* weight, int taps,
                      float* const* planes, int64_t n) {
  const int stride = kChannels ? kChannels : channels;
  for (int c = 0; c < stride; ++c) {
    float* __restrict out = kPixels ? planes[0] + c : planes[c];
    const int64_t hop = kPixels ? stride : 1;
    for (int64_t o = 0; o < n; ++o) {
      const float* p = acc + int64_t{base[o]} * stride + c;
      const float* w = weight + o * taps;
      float s = w[0] * p[0];
      for (int k = 1; k < taps; ++k) s = fma(w[k], p[int64_t{k} * step * stride], s);
      out[o * hop] = s;
    }
  }
}

#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
inline __m512 four_pixels(const float* a, const float* b, const float* c, const float* d, int64_t at) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(a + at));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(b + at), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(c + at), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(d + at), 3);
}

// Four pixels are one vector, and their weights are in two. Returns how many outputs are done.
template <int kChannels, int kTaps, bool kPixels>
int64_t horizontal_fours(const float* acc, const int32_t* base, int64_t hop, const float* weight, float* const* planes,
                         int64_t n) {
  const __m512i pixel = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const __m512i first = _mm512_mullo_epi32(pixel, _mm512_set1_epi32(kTaps));
  const __m512i by_channel = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  constexpr auto low = static_cast<__mmask16>(kTaps >= 4 ? 0xFFFF : (1 << 4 * kTaps) - 1);
  constexpr auto high = static_cast<__mmask16>(kTaps <= 4 ? 0 : (1 << (4 * kTaps - 16)) - 1);
  [[maybe_unused]] const __m512i packed = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
  int64_t o = 0;
  for (; o + 4 <= n; o += 4, weight += 4 * kTaps) {
    const float* p0 = acc + int64_t{base[o]} * kChannels;
    const float* p1 = acc + int64_t{base[o + 1]} * kChannels;
    const float* p2 = acc + int64_t{base[o + 2]} * kChannels;
    const float* p3 = acc + int64_t{base[o + 3]} * kChannels;
    const __m512 w0 = _mm512_maskz_loadu_ps(low, weight);
    const __m512 w1 = high ? _mm512_maskz_loadu_ps(high, weight + 16) : w0;
    auto weights = [&](int k) __attribute__((always_inline)) {
      const __m512i which = _mm512_add_epi32(first, _mm512_set1_epi32(k));
      return high ? _mm512_permutex2var_ps(w0, which, w1) : _mm512_permutexvar_ps(which, w0);
    };
    __m512 s = _mm512_mul_ps(weights(0), four_pixels(p0, p1, p2, p3, 0));
#pragma GCC unroll 8
    for (int k = 1; k < kTaps; ++k) s = _mm512_fmadd_ps(weights(k), four_pixels(p0, p1, p2, p3, k * hop), s);
    if constexpr (kPixels) {
      constexpr __mmask16 all = kChannels == 4 ? 0xFFFF : 0x0FFF;
      if constexpr (kChannels == 3) s = _mm512_permutexvar_ps(packed, s);
      _mm512_mask_storeu_ps(planes[0] + o * kChannels, all, s);
    } else {
      s = _mm512_permutexvar_ps(by_channel, s);
      _mm_storeu_ps(planes[0] + o, _mm512_castps512_ps128(s));
      _mm_storeu_ps(planes[1] + o, _mm512_extractf32x4_ps(s, 1));
      _mm_storeu_ps(planes[2] + o, _mm512_extractf32x4_ps(s, 2));
      if constexpr (kChannels == 4) _mm_storeu_ps(planes[3] + o, _mm512_extractf32x4_ps(s, 3));
    }
  }
  return o;
}
#endif

#if PENSTOCK_TARGET_FLOATS == 8
// The sums of four pixels, two in each vector, whose weights are parts of the vectors that hold those of all. They are
// in the order of taps, as elsewhere.
template <int kTaps>
inline void four_sums(const float* const (&p)[4], int64_t hop, const float* weight, __m128 (&sum)[4]) {
  static_assert(kTaps == 2 || kTaps == 4);
  // Weights of pixels 0 and 1, 2 and 3 are halves of a vector; of two taps, those of 0 and 2, 1 and 3.
  constexpr int kNext = kTaps == 4 ? 1 : 2;
  const auto two = [&](int pixel, int64_t at) __attribute__((always_inline)) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[pixel] + at)),
                                _mm_loadu_ps(p[pixel + kNext] + at), 1);
  };
#pragma GCC unroll 2
  for (int v = 0; v < 2; ++v) {
    const int pixel = kTaps == 4 ? 2 * v : v;
    const __m256 all = _mm256_loadu_ps(weight + (kTaps == 4 ? 8 * v : 0));
    const __m256 turned = kTaps == 2 && v == 1 ? _mm256_permute_ps(all, 0x0E) : all;
    __m256 s = _mm256_mul_ps(_mm256_permute_ps(turned, 0x00), two(pixel, 0));
    s = _mm256_fmadd_ps(_mm256_permute_ps(turned, 0x55), two(pixel, hop), s);
    if constexpr (kTaps == 4) {
      s = _mm256_fmadd_ps(_mm256_permute_ps(turned, 0xAA), two(pixel, 2 * hop), s);
      s = _mm256_fmadd_ps(_mm256_permute_ps(turned, 0xFF), two(pixel, 3 * hop), s);
    }
    sum[pixel] = _mm256_castps256_ps128(s), sum[pixel + kNext] = _mm256_extractf128_ps(s, 1);
  }
}
#endif
// The same by vectors of one pixel, for any number of taps.
inline void four_sums(const float* const (&p)[4], int64_t hop, const float* weight, int taps, __m128 (&sum)[4]) {
#if PENSTOCK_TARGET_FLOATS == 8
  if (taps == 4) return four_sums<4>(p, hop, weight, sum);
  if (taps == 2) return four_sums<2>(p, hop, weight, sum);
#endif
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) sum[i] = _mm_mul_ps(_mm_broadcast_ss(weight + i * taps), _mm_loadu_ps(p[i]));
  for (int k = 1; k < taps; ++k)
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      sum[i] = _mm_fmadd_ps(_mm_broadcast_ss(weight + i * taps + k), _mm_loadu_ps(p[i] + k * hop), sum[i]);
}

// One pixel of three or four channels is one vector of four; the fourth lane of three is never stored.
template <int kChannels, bool kPixels>
void horizontal_pixels(const float* acc, const int32_t* base, int step, const float* weight, int taps,
                       float* const* planes, int64_t n) {
  const int64_t hop = int64_t{step} * kChannels;
  int64_t o = 0;
#if PENSTOCK_TARGET_FLOATS == 16
  constexpr decltype(&horizontal_fours<kChannels, 1, kPixels>) by_taps[] = {
      &horizontal_fours<kChannels, 1, kPixels>, &horizontal_fours<kChannels, 2, kPixels>,
      &horizontal_fours<kChannels, 3, kPixels>, &horizontal_fours<kChannels, 4, kPixels>,
      &horizontal_fours<kChannels, 5, kPixels>, &horizontal_fours<kChannels, 6, kPixels>,
      &horizontal_fours<kChannels, 7, kPixels>, &horizontal_fours<kChannels, 8, kPixels>};
  if (taps <= 8) o = by_taps[taps - 1](acc, base, hop, weight, planes, n);
#endif
  for (; o + 4 <= n; o += 4) {
    const float* p[4];
    for (int i = 0; i < 4; ++i) p[i] = acc + int64_t{base[o + i]} * kChannels;
    __m128 s[4];
    four_sums(p, hop, weight + o * taps, taps, s);
    if constexpr (kPixels) {  // each but the last also writes to the place of the next
      float* const to = planes[0] + o * kChannels;
      _mm_storeu_ps(to, s[0]), _mm_storeu_ps(to + kChannels, s[1]), _mm_storeu_ps(to + 2 * kChannels, s[2]);
      if constexpr (kChannels == 4) {
        _mm_storeu_ps(to + 12, s[3]);
      } else {
        _mm_storel_pi(reinterpret_cast<__m64*>(to + 9), s[3]);
        _mm_store_ss(to + 11, _mm_movehl_ps(s[3], s[3]));
      }
      continue;
    }
    _MM_TRANSPOSE4_PS(s[0], s[1], s[2], s[3]);
    _mm_storeu_ps(planes[0] + o, s[0]);
    _mm_storeu_ps(planes[1] + o, s[1]);
    _mm_storeu_ps(planes[2] + o, s[2]);
    if constexpr (kChannels == 4) _mm_storeu_ps(planes[3] + o, s[3]);
  }
  if (o < n) {
    float* rest[4];
    for (int c = 0; c < (kPixels ? 1 : kChannels); ++c) rest[c] = planes[c] + o * (kPixels ? kChannels : 1);
    horizontal_plain<kChannels, kPixels>(acc, kChannels, base + o, step, weight + o * taps, taps, rest, n - o);
  }
}

inline void horizontal_gray(const float* acc, const int32_t* base, int step, const float* weight, int taps,
                            float* const* planes, int64_t n) {
  float* __restrict out = planes[0];
  int64_t o = 0;
  const __m256i each = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(taps));
  for (; o + 8 <= n; o += 8) {
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(base + o));
    const float* w = weight + o * taps;
    __m256 s = _mm256_mul_ps(_mm256_i32gather_ps(w, each, 4), _mm256_i32gather_ps(acc, b, 4));
    for (int k = 1; k < taps; ++k)
      s = _mm256_fmadd_ps(_mm256_i32gather_ps(w + k, each, 4), _mm256_i32gather_ps(acc + k * step, b, 4), s);
    _mm256_storeu_ps(out + o, s);
  }
  if (o < n) {
    float* rest[1] = {out + o};
    horizontal_plain<1>(acc, 1, base + o, step, weight + o * taps, taps, rest, n - o);
  }
}
#endif

#if PENSTOCK_TARGET_FLOATS
#if PENSTOCK_TARGET_FLOATS == 16
using Index = __m512i;
inline Wide pick(Wide low, Wide high, Index index) { return _mm512_permutex2var_ps(low, index, high); }
inline Wide pick(const float* p, Index index) { return _mm512_permutexvar_ps(index, load_wide(p)); }
inline Index moved(Index index, int by) { return _mm512_add_epi32(index, _mm512_set1_epi32(by)); }
template <int kParts, int kPart> inline Wide take_part(Wide rest, Wide part) {
  constexpr int n = 16 / kParts;
  return _mm512_mask_blend_ps(static_cast<__mmask16>(((1 << n) - 1) << (n * kPart)), rest, part);
}
inline __m512i load_index(const int32_t* p) { return _mm512_loadu_si512(p); }
#else
using Index = __m256i;
inline Wide pick(Wide low, Wide high, Index index) {
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, index), _mm256_permutevar8x32_ps(high, index),
                          _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}
inline Wide pick(const float* p, Index index) { return _mm256_permutevar8x32_ps(load_wide(p), index); }
inline Index moved(Index index, int by) { return _mm256_add_epi32(index, _mm256_set1_epi32(by)); }
template <int kParts, int kPart> inline Wide take_part(Wide rest, Wide part) {
  constexpr int n = 8 / kParts;
  return _mm256_blend_ps(rest, part, ((1 << n) - 1) << (n * kPart));
}
inline __m256i load_index(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
#endif

inline Wide pick_of_two(const float* p, Index index) { return pick(load_wide(p), load_wide(p + kWide), index); }

// kPast: past the caches, to a place that is a multiple of the vector.
template <bool kPast> inline void store_result(float* p, Wide v) {
  if constexpr (kPast) stream_wide(p, v);
  else store_wide(p, v);
}

// kTaps: their number where that is known, else 0.
template <int kPlanes, bool kPast, int kTaps = 0>
void resample_held(const float* const* acc, const RowPlan& plan, int step, int some_taps, float* const* out,
                   int64_t begin, int64_t end) {
  const int taps = kTaps ? kTaps : some_taps;
  const int64_t groups = (end + kWide - 1) / kWide;
  for (int64_t g = begin / kWide; g < groups; ++g) {
    Index index = load_index(&plan.index[g * kWide]);
    const int64_t base = plan.base[g];
    const float* weight = &plan.weight[g * taps * kWide];
    Wide low[kPlanes], high[kPlanes], s[kPlanes];
    const Wide first = load_wide(weight);
    for (int c = 0; c < kPlanes; ++c) {
      low[c] = load_wide(acc[c] + base), high[c] = load_wide(acc[c] + base + kWide);
      s[c] = multiply(first, pick(low[c], high[c], index));
    }
    for (int k = 1; k < taps; ++k) {
      index = moved(index, step);
      const Wide w = load_wide(weight + k * kWide);
      for (int c = 0; c < kPlanes; ++c) s[c] = multiply_add(w, pick(low[c], high[c], index), s[c]);
    }
    for (int c = 0; c < kPlanes; ++c) store_result<kPast>(out[c] + (g * kWide - begin), s[c]);
  }
}

template <int kPlanes, bool kPast, int kTaps = 0>
void resample_narrow(const float* const* acc, const RowPlan& plan, int step, int some_taps, float* const* out,
                     int64_t begin, int64_t end) {
  const int taps = kTaps ? kTaps : some_taps;
  const float* from[kPlanes];
  float* to[kPlanes];
  for (int c = 0; c < kPlanes; ++c) from[c] = acc[c], to[c] = out[c];
  const int64_t groups = (end + kWide - 1) / kWide;
  for (int64_t g = begin / kWide; g < groups; ++g) {
    const Index index = load_index(&plan.index[g * kWide]);
    const int64_t base = plan.base[g];
    const float* weight = &plan.weight[g * taps * kWide];
    Wide s[kPlanes];
    const Wide first = load_wide(weight);
    for (int c = 0; c < kPlanes; ++c) s[c] = multiply(first, pick(from[c] + base, index));
    for (int k = 1; k < taps; ++k) {
      const Wide w = load_wide(weight + k * kWide);
      for (int c = 0; c < kPlanes; ++c) s[c] = multiply_add(w, pick(from[c] + base + int64_t{k} * step, index), s[c]);
    }
    for (int c = 0; c < kPlanes; ++c) store_result<kPast>(to[c] + (g * kWide - begin), s[c]);
  }
}

template <int kPlanes, int kParts, bool kPast>
void resample_groups(const float* const* acc, const RowPlan& plan, int step, int taps, float* const* out, int64_t begin,
                     int64_t end) {
  const float* from[kPlanes];
  float* to[kPlanes];
  for (int c = 0; c < kPlanes; ++c) from[c] = acc[c], to[c] = out[c];
  const int64_t groups = (end + kWide - 1) / kWide;
  for (int64_t g = begin / kWide; g < groups; ++g) {
    const auto index = load_index(&plan.index[g * kWide]);
    const int32_t* base = &plan.base[g * kParts];
    const float* weight = &plan.weight[g * taps * kWide];
    auto sample = [&](const float* plane, int64_t hop) __attribute__((always_inline)) {
      Wide v = pick_of_two(plane + base[0] + hop, index);
      if constexpr (kParts > 1) v = take_part<kParts, 1>(v, pick_of_two(plane + base[1] + hop, index));
      if constexpr (kParts > 2) {
        v = take_part<kParts, 2>(v, pick_of_two(plane + base[2] + hop, index));
        v = take_part<kParts, 3>(v, pick_of_two(plane + base[3] + hop, index));
      }
      return v;
    };
    Wide s[kPlanes];
    const Wide first = load_wide(weight);
    for (int c = 0; c < kPlanes; ++c) s[c] = multiply(first, sample(from[c], 0));
    for (int k = 1; k < taps; ++k) {
      const Wide w = load_wide(weight + k * kWide);
      for (int c = 0; c < kPlanes; ++c) s[c] = multiply_add(w, sample(from[c], int64_t{k} * step), s[c]);
    }
    for (int c = 0; c < kPlanes; ++c) store_result<kPast>(to[c] + (g * kWide - begin), s[c]);
  }
}

template <int kPlanes, bool kPast = false>
void resample_parts(const float* const* acc, const RowPlan& plan, int step, int taps, float* const* out, int64_t begin,
                    int64_t end) {
  if (plan.held) {
    if (taps == 2) return resample_held<kPlanes, kPast, 2>(acc, plan, step, taps, out, begin, end);
    if (taps == 4) return resample_held<kPlanes, kPast, 4>(acc, plan, step, taps, out, begin, end);
    return resample_held<kPlanes, kPast>(acc, plan, step, taps, out, begin, end);
  }
  if (plan.narrow) {
    if (taps == 2) return resample_narrow<kPlanes, kPast, 2>(acc, plan, step, taps, out, begin, end);
    if (taps == 4) return resample_narrow<kPlanes, kPast, 4>(acc, plan, step, taps, out, begin, end);
    return resample_narrow<kPlanes, kPast>(acc, plan, step, taps, out, begin, end);
  }
  switch (plan.parts) {
    case 1: return resample_groups<kPlanes, 1, kPast>(acc, plan, step, taps, out, begin, end);
    case 2: return resample_groups<kPlanes, 2, kPast>(acc, plan, step, taps, out, begin, end);
    default: return resample_groups<kPlanes, 4, kPast>(acc, plan, step, taps, out, begin, end);
  }
}
#endif

inline void resample_planes(const float* const* acc, int planes, const RowPlan& plan, int step, int taps,
                            float* const* out, int64_t begin, int64_t end, bool past_caches) {
#if PENSTOCK_TARGET_FLOATS
  if (past_caches && planes == 1 && reinterpret_cast<uintptr_t>(*out) % sizeof(Wide) == 0)
    return resample_parts<1, true>(acc, plan, step, taps, out, begin, end);
  int c = 0;
  for (; c + 3 <= planes; c += 3) resample_parts<3>(acc + c, plan, step, taps, out + c, begin, end);
  for (; c < planes; ++c) resample_parts<1>(acc + c, plan, step, taps, out + c, begin, end);
#else
  (void)acc, (void)planes, (void)plan, (void)step, (void)taps, (void)out, (void)begin, (void)end, (void)past_caches;
#endif
}

inline void horizontal(const float* acc, int channels, const int32_t* base, int step, const float* weight, int taps,
                       float* const* planes, int64_t n) {
#if PENSTOCK_TARGET_FLOATS
  if (channels == 3) return horizontal_pixels<3, false>(acc, base, step, weight, taps, planes, n);
  if (channels == 4) return horizontal_pixels<4, false>(acc, base, step, weight, taps, planes, n);
  if (channels == 1) return horizontal_gray(acc, base, step, weight, taps, planes, n);
#endif
  horizontal_plain<0>(acc, channels, base, step, weight, taps, planes, n);
}

inline void horizontal_to_pixels(const float* acc, int channels, const int32_t* base, int step, const float* weight,
                                 int taps, float* out, int64_t n) {
  float* const to[1] = {out};
#if PENSTOCK_TARGET_FLOATS
  if (channels == 3) return horizontal_pixels<3, true>(acc, base, step, weight, taps, to, n);
  if (channels == 4) return horizontal_pixels<4, true>(acc, base, step, weight, taps, to, n);
  if (channels == 1) return horizontal_gray(acc, base, step, weight, taps, to, n);
#endif
  horizontal_plain<0, true>(acc, channels, base, step, weight, taps, to, n);
}

inline void to_rgb(float* __restrict luma, float* __restrict cb, float* __restrict cr, int64_t n) {
  auto limited = [](float v) { return v < 0.0f ? 0.0f : v > 255.0f ? 255.0f : v; };
  for (int64_t i = 0; i < n; ++i) {
    const float y = luma[i], b = cb[i] - 128.0f, r = cr[i] - 128.0f;
    luma[i] = limited(fma(r, 1.402f, y));
    cb[i] = limited(fma(r, -0.714136f, fma(b, -0.344136f, y)));
    cr[i] = limited(fma(b, 1.772f, y));
  }
}

#if PENSTOCK_TARGET_FLOATS
constexpr int kPlanLanes = kWide;
#else
constexpr int kPlanLanes = 0;
#endif
constexpr FilterRows kRows{&vertical<uint8_t>, &vertical<uint16_t>, &vertical<float>,
                           &horizontal,        &resample_planes,    &to_rgb,
                           kPlanLanes,         &convolve,           &horizontal_to_pixels};
