// SPDX-License-Identifier: Apache-2.0
// Pixels of three or four adjacent numbers, included by affine_rows.inc.h for targets with vectors. A pixel is read as
// four numbers; where all pixels of a vector have their neighbors inside, they are blended so and then turned into
// planes.

inline __attribute__((always_inline)) __m128 four_numbers(const float* p) { return _mm_loadu_ps(p); }
inline __attribute__((always_inline)) __m128 four_numbers(const uint16_t* p) {
  return _mm_cvtepi32_ps(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline __attribute__((always_inline)) __m128 four_numbers(const int16_t* p) {
  return _mm_cvtepi32_ps(_mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
inline __attribute__((always_inline)) __m128 lerp_four(__m128 a, __m128 b, __m128 weight) {
  return _mm_fmadd_ps(_mm_sub_ps(b, a), weight, a);
}
inline bool all_of(VecI mask) {
#if PENSTOCK_TARGET_FLOATS == 8
  return _mm256_movemask_ps((__m256)mask) == 0xff;
#else
  return _mm512_movepi32_mask((__m512i)mask) == 0xffff;
#endif
}

// Outputs [i, i + kWidth) with all neighbors inside; offset: of the lower ones.
template <class T, int kChannels, bool kNearest>
inline void inner_pixels(const AffineSource& s, const Positions& p, int i, const int32_t* offset,
                         float* const* planes) {
  const T* in = static_cast<const T*>(s.data);
  request_rows_ahead<pixels_of_request(kChannels * sizeof(T))>(
      in, s.stride_y * p.downward * static_cast<int64_t>(sizeof(T)), offset, PENSTOCK_TARGET_FLOATS);
  for (int k = 0; k < PENSTOCK_TARGET_FLOATS; k += 4) {
    __m128 v[4];
    for (int j = 0; j < 4; ++j) {
      const T* at = in + offset[k + j];
      v[j] = four_numbers(at);
      if constexpr (!kNearest) {
        const __m128 wx = _mm_set1_ps(p.weight[0][i + k + j]), wy = _mm_set1_ps(p.weight[1][i + k + j]);
        const T* next = at + s.stride_y;
        v[j] = lerp_four(lerp_four(v[j], four_numbers(at + s.stride_x), wx),
                         lerp_four(four_numbers(next), four_numbers(next + s.stride_x), wx), wy);
      }
    }
    _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]);
    for (int c = 0; c < kChannels; ++c) _mm_storeu_ps(planes[c] + i + k, v[c]);
  }
}
// One output, wherever its neighbors are.
template <class T, int kChannels, bool kNearest>
void border_pixel(const AffineRows& rows, const AffineSource& s, const Positions& p, int i, float* const* planes) {
  const T* in = static_cast<const T*>(s.data);
  const bool fills = AffineAccess::fills(rows);
  const int64_t last[2] = {s.width - 1, s.height - 1};
  for (int c = 0; c < kChannels; ++c) {
    const auto tap = [&](int up_x, int up_y) {
      const int64_t x = int64_t{p.at[0][i]} + up_x, y = int64_t{p.at[1][i]} + up_y;
      const int64_t u = std::clamp<int64_t>(x, 0, last[0]), v = std::clamp<int64_t>(y, 0, last[1]);
      if (fills && (u != x || v != y)) return AffineAccess::fill(rows, c);
      return static_cast<float>(in[v * s.stride_y + u * s.stride_x + c]);
    };
    if constexpr (kNearest) {
      planes[c][i] = tap(0, 0);
    } else {
      const float wx = p.weight[0][i], wy = p.weight[1][i];
      planes[c][i] =
          penstock::lerp(penstock::lerp(tap(0, 0), tap(1, 0), wx), penstock::lerp(tap(0, 1), tap(1, 1), wx), wy);
    }
  }
}
// A vector of outputs, of which some read outside.
template <class T, int kChannels, bool kNearest>
void border_pixels(const AffineRows& rows, const AffineSource& s, const Positions& p, int i, bool none_inside,
                   float* const* planes) {
  if (none_inside && AffineAccess::fills(rows)) {
    for (int c = 0; c < kChannels; ++c) {
      const float fill = AffineAccess::fill(rows, c);  // a blend loses the sign of -0
      std::fill_n(planes[c] + i, PENSTOCK_TARGET_FLOATS, kNearest ? fill : penstock::lerp(fill, fill, 0.5f));
    }
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    for (int c = 0; c < kChannels; ++c) {
      AffineSource one = s;
      one.data = static_cast<const float*>(s.data) + c;
      gather_block<0, kNearest>(rows, one, p, i, i + PENSTOCK_TARGET_FLOATS, 0, planes + c, c);
    }
  } else {
    for (int k = 0; k < PENSTOCK_TARGET_FLOATS; ++k) border_pixel<T, kChannels, kNearest>(rows, s, p, i + k, planes);
  }
}

template <class T, int kChannels, bool kNearest>
void pixel_block(const AffineRows& rows, const AffineSource& s, const Positions& p, int n, float* const* planes) {
  // A pixel of three numbers is read with one number of the next pixel.
  const auto width = static_cast<int32_t>(s.width), height = static_cast<int32_t>(s.height);
  const int32_t last_x = width - 1 - !kNearest - (kChannels == 3), last_y = height - 1 - !kNearest;
  const auto step_x = static_cast<int32_t>(s.stride_x), step_y = static_cast<int32_t>(s.stride_y);
  for (int i = 0; i < n; i += PENSTOCK_TARGET_FLOATS) {
    VecI x, y;
    std::memcpy(&x, p.at[0] + i, sizeof x), std::memcpy(&y, p.at[1] + i, sizeof y);
    if (all_of((x >= 0) & (x <= last_x) & (y >= 0) & (y <= last_y))) {
      alignas(64) int32_t offset[PENSTOCK_TARGET_FLOATS];
      const VecI at = y * step_y + x * step_x;
      std::memcpy(offset, &at, sizeof at);
      inner_pixels<T, kChannels, kNearest>(s, p, i, offset, planes);
    } else {
      const int32_t before = kNearest ? 0 : -1;  // there the upper neighbor is inside
      const VecI none = (x < before) | (x >= width) | (y < before) | (y >= height);
      border_pixels<T, kChannels, kNearest>(rows, s, p, i, all_of(none), planes);
    }
  }
}
// False: pixels are in another form.
template <class T, bool kNearest>
bool pixel_rows(const AffineRows& rows, const AffineSource& s, const Positions& p, int n, float* const* planes) {
  if (s.stride_c != 1 || s.stride_x < s.channels || (s.channels != 3 && s.channels != 4)) return false;
  if (s.channels == 3) pixel_block<T, 3, kNearest>(rows, s, p, n, planes);
  else pixel_block<T, 4, kNearest>(rows, s, p, n, planes);
  return true;
}
