// SPDX-License-Identifier: Apache-2.0
// Samplers of float32, included once per target with vectors.

// The places of kLanes pixels from output i of a block on, those of pixels at the border 0. True if there are none of
// these.
template <int C, class V>
PENSTOCK_ALWAYS bool find_offsets(const Inside& inside, const Positions<V>& p, int i, int32_t stride, int32_t* offset) {
  const I x = load<I>(p.at[0] + i), y = load<I>(p.at[1] + i);
  const I within = (x >= inside.low) & (x <= inside.last_x) & (y >= inside.low) & (y <= inside.last_y);
  // Others may be so far outside that a product overflows.
  store(offset, ((y - inside.low) & within) * stride + ((x - inside.low) & within) * C);
  return all(within);
}

// The cell of an output whose neighbors are not all inside, with resolved borders, in rows of kPitch numbers.
template <int C, Filter K, int kPitch>
__attribute__((noinline)) void copy_cell(const Image& s, int32_t x, int32_t y, float* cell) {
  constexpr int kTaps = taps_of(K), kBefore = K == kCubic;
  const auto* in = static_cast<const float*>(s.data);
  int32_t u[kTaps];
  for (int t = 0; t < kTaps; ++t) u[t] = bordered(x - kBefore + t, s.source.width, s.source.border);
  for (int r = 0; r < kTaps; ++r, cell += kPitch) {
    const int32_t v = bordered(y - kBefore + r, s.source.height, s.source.border);
    for (int t = 0; t < kTaps; ++t) {
      const bool outside = v < 0 || u[t] < 0;
      const void* from = outside ? static_cast<const void*>(s.fill) : in + (int64_t{v} * s.source.width + u[t]) * C;
      std::memcpy(cell + C * t, from, C * sizeof(float));
    }
  }
}

// Four numbers of each pixel become four vectors: a group holds numbers of one pixel before, of one place after.
template <class Get> PENSTOCK_ALWAYS void turned(Get get, F (&to)[4]) {
  const auto four = [&](int k) __attribute__((always_inline)) {
    return join([&](int g) __attribute__((always_inline)) { return get(4 * g + k); });
  };
  const I a = four(0), b = four(1), c = four(2), d = four(3);
  const I ab = low_pairs(a, b), cd = low_pairs(c, d), ab_high = high_pairs(a, b), cd_high = high_pairs(c, d);
  to[0] = (F)low_halves(ab, cd), to[1] = (F)high_halves(ab, cd);
  to[2] = (F)low_halves(ab_high, cd_high), to[3] = (F)high_halves(ab_high, cd_high);
}
// One channel.
template <Filter K> void plane_row(const Image& s, const Positions<float>& p, int n, void* out) {
  const Inside inside(s, 1, taps_of(K));
  const auto* in = static_cast<const float*>(s.data);
  const int32_t width = s.source.width;
  const bool covered = covers(s.source);
  auto* to = static_cast<float*>(out);
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    constexpr int kPitch = 4, kCell = 4 * kPitch;
    alignas(64) int32_t offset[kLanes];
    float cells[kLanes * kCell];
    const float* base = in;
    int64_t stride = width;
    if (find_offsets<1>(inside, p, i, width, offset)) {
      request_rows_ahead<pixels_of_request(4)>(in, int64_t{4} * width * p.downward, offset, kLanes);
    } else if (covered) {
      for (int k = 0; k < kLanes; ++k) sample_pixel(s, p, i + k, to + i + k);
      continue;
    } else {
      for (int k = 0; k < kLanes; ++k) {
        offset[k] = k * kCell;
        copy_cell<1, K, kPitch>(s, p.at[0][i + k], p.at[1][i + k], cells + offset[k]);
      }
      base = cells, stride = kPitch;
    }
    Weights w;
    find_weights<K>(load<F>(p.weight[0] + i), w.x), find_weights<K>(load<F>(p.weight[1] + i), w.y);
    F v[4];
    if constexpr (K == kLinear) {
      turned([&](int k)
                 __attribute__((always_inline)) { return load_two(base + offset[k], base + offset[k] + stride); },
             v);
      store(to + i, lerp_of(lerp_of(v[0], v[1], w.x[0]), lerp_of(v[2], v[3], w.x[0]), w.y[0]));
    } else {
      F rows[4];
      for (int r = 0; r < 4; ++r) {
        const float* row = base + r * stride;
        turned([&](int k) __attribute__((always_inline)) { return load_16(row + offset[k]); }, v);
        rows[r] = weighted_of(v, w.x);
      }
      store(to + i, weighted_of(rows, w.y));
    }
  }
  for (; i < n; ++i) sample_pixel(s, p, i, to + i);
}

PENSTOCK_ALWAYS __m128 lerp_four(__m128 a, __m128 b, __m128 weight) {
  return _mm_fmadd_ps(_mm_sub_ps(b, a), weight, a);
}
// get(k) by the weights of pixel i.
template <class Get> PENSTOCK_ALWAYS __m128 weighted_four(Get get, const float (&weights)[4][kLanes], int i) {
  const auto weight = [&](int k) __attribute__((always_inline)) { return _mm_set1_ps(weights[k][i]); };
  const __m128 two = _mm_fmadd_ps(get(1), weight(1), _mm_mul_ps(get(0), weight(0)));
  return _mm_fmadd_ps(get(3), weight(3), _mm_fmadd_ps(get(2), weight(2), two));
}
// The weights of kLanes pixels, axis after axis.
struct PixelWeights {
  alignas(64) float x[4][kLanes], y[4][kLanes];
};
template <int C, Filter K>
PENSTOCK_ALWAYS __m128 blended_pixel(const float* in, int64_t stride, const PixelWeights& w, int i) {
  const auto row = [&](int r) __attribute__((always_inline)) {
    const float* at = in + r * stride;
    if constexpr (K == kLinear) return lerp_four(_mm_loadu_ps(at), _mm_loadu_ps(at + C), _mm_set1_ps(w.x[0][i]));
    else return weighted_four([&](int k) __attribute__((always_inline)) { return _mm_loadu_ps(at + k * C); }, w.x, i);
  };
  if constexpr (K == kLinear) return lerp_four(row(0), row(1), _mm_set1_ps(w.y[0][i]));
  else return weighted_four(row, w.y, i);
}
// Three or four channels: a pixel is a vector. With three, the fourth number is not used.
template <int C, Filter K> void pixels_row(const Image& s, const Positions<float>& p, int n, void* out) {
  const Inside inside(s, C, C * (taps_of(K) - 1) + 4);
  const auto* in = static_cast<const float*>(s.data);
  const int32_t stride = s.source.width * C;
  const bool covered = covers(s.source);
  auto* to = static_cast<float*>(out);
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    constexpr int kPitch = 16;
    alignas(64) int32_t offset[kLanes];
    float cell[4 * kPitch + 4];
    const bool whole = find_offsets<C>(inside, p, i, stride, offset);
    request_rows_ahead<pixels_of_request(4 * C)>(in, int64_t{4} * stride * p.downward, offset, kLanes);
    Weights w;
    find_weights<K>(load<F>(p.weight[0] + i), w.x), find_weights<K>(load<F>(p.weight[1] + i), w.y);
    PixelWeights each;
    for (int k = 0; k < (K == kLinear ? 1 : 4); ++k) store(each.x[k], w.x[k]), store(each.y[k], w.y[k]);
    for (int k = 0; k < kLanes; ++k, to += C) {
      const bool beside = !whole && !inside.holds(p.at[0][i + k], p.at[1][i + k]);
      if (beside && covered) {
        sample_pixel(s, p, i + k, to);
        continue;
      }
      if (beside) copy_cell<C, K, kPitch>(s, p.at[0][i + k], p.at[1][i + k], cell);
      const __m128 v =
          beside ? blended_pixel<C, K>(cell, kPitch, each, k) : blended_pixel<C, K>(in + offset[k], stride, each, k);
      if (C == 4 || k + 1 < kLanes) _mm_storeu_ps(to, v);  // the next pixel overwrites a fourth number
      else std::memcpy(to, &v, C * sizeof(float));
    }
  }
  for (; i < n; ++i, to += C) sample_pixel(s, p, i, to);
}
