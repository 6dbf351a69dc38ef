// SPDX-License-Identifier: Apache-2.0
// Samplers of interleaved bytes by vectors, included once per target with vectors. A pixel of three or four channels is
// a group of four numbers; vector k of four holds the pixels 4 g + k, so that four results are packed into order.

// A pattern that takes `count` bytes, from `first` on, to numbers of 32 bits.
template <int first, int count> PENSTOCK_ALWAYS __m128i bytes_from() {
  const auto at = [](int i) { return i < count ? first + i : -1; };
  return _mm_setr_epi8(at(0), -1, -1, -1, at(1), -1, -1, -1, at(2), -1, -1, -1, at(3), -1, -1, -1);
}
struct Weights {
  F x[4], y[4];  // linear: the first of each
};
template <Filter K> PENSTOCK_ALWAYS void find_weights(F f, F (&w)[4]) {
  if constexpr (K == kLinear) {
    w[0] = f;
  } else {
    const F one = F{} + 1.0f, g = one - f;
    w[0] = f * g * g * -0.75f, w[3] = g * f * f * -0.75f;
    w[1] = fma_of(fma_of(f, F{} + 1.25f, F{} - 2.25f), f * f, one);
    w[2] = fma_of(fma_of(g, F{} + 1.25f, F{} - 2.25f), g * g, one);
  }
}

// Cells are at base + offset[i]; their rows are `stride` bytes apart.
PENSTOCK_ALWAYS I linear_gray(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w) {
  const I v = join([&](int g) __attribute__((always_inline)) {  // two bytes of each row in a number
    __m128i four = _mm_setzero_si128();
    const auto two = [&](int i, int row) __attribute__((always_inline)) {
      uint16_t bytes;
      std::memcpy(&bytes, base + offset[4 * g + i] + row * stride, sizeof bytes);
      return bytes;
    };
    four = _mm_insert_epi16(four, two(0, 0), 0), four = _mm_insert_epi16(four, two(0, 1), 1);
    four = _mm_insert_epi16(four, two(1, 0), 2), four = _mm_insert_epi16(four, two(1, 1), 3);
    four = _mm_insert_epi16(four, two(2, 0), 4), four = _mm_insert_epi16(four, two(2, 1), 5);
    four = _mm_insert_epi16(four, two(3, 0), 6), four = _mm_insert_epi16(four, two(3, 1), 7);
    return four;
  });
  const F top = lerp_of(to_float(v & 255), to_float((v >> 8) & 255), w.x[0]);
  const F bottom = lerp_of(to_float((v >> 16) & 255), to_float((v >> 24) & 255), w.x[0]);
  return round_int(lerp_of(top, bottom, w.y[0]));
}
PENSTOCK_ALWAYS I cubic_gray(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w) {
  F rows[4];
  for (int r = 0; r < 4; ++r) {
    const I v = join([&](int g) __attribute__((always_inline)) {
      const auto four = [&](int i) __attribute__((always_inline)) {
        int32_t bytes;
        std::memcpy(&bytes, base + offset[4 * g + i] + r * stride, sizeof bytes);
        return bytes;
      };
      return _mm_setr_epi32(four(0), four(1), four(2), four(3));
    });
    const F taps[4] = {to_float(v & 255), to_float((v >> 8) & 255), to_float((v >> 16) & 255),
                       to_float((v >> 24) & 255)};
    rows[r] = weighted_of(taps, w.x);
  }
  return round_int(weighted_of(rows, w.y));
}
// The pixels 4 g + k.
template <int C, int k>
PENSTOCK_ALWAYS I linear_color(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w) {
  const I v = join([&](int g) __attribute__((always_inline)) {
    const uint8_t* p = base + offset[4 * g + k];
    return load_two(p, p + stride);
  });
  const F x = spread<k>(w.x[0]), y = spread<k>(w.y[0]);
  const F top = lerp_of(to_float(shuffled(v, bytes_from<0, C>())), to_float(shuffled(v, bytes_from<C, C>())), x);
  const F bottom = lerp_of(to_float(shuffled(v, bytes_from<8, C>())), to_float(shuffled(v, bytes_from<8 + C, C>())), x);
  return round_int(lerp_of(top, bottom, y));
}
template <int C, int k>
PENSTOCK_ALWAYS I cubic_color(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w) {
  const F x[4] = {spread<k>(w.x[0]), spread<k>(w.x[1]), spread<k>(w.x[2]), spread<k>(w.x[3])};
  const F y[4] = {spread<k>(w.y[0]), spread<k>(w.y[1]), spread<k>(w.y[2]), spread<k>(w.y[3])};
  F rows[4];
  for (int r = 0; r < 4; ++r) {
    const I v =
        join([&](int g) __attribute__((always_inline)) { return load_16(base + offset[4 * g + k] + r * stride); });
    const F taps[4] = {to_float(shuffled(v, bytes_from<0, C>())), to_float(shuffled(v, bytes_from<C, C>())),
                       to_float(shuffled(v, bytes_from<2 * C, C>())), to_float(shuffled(v, bytes_from<3 * C, C>()))};
    rows[r] = weighted_of(taps, x);
  }
  return round_int(weighted_of(rows, y));
}
template <int C, Filter K, int k>
PENSTOCK_ALWAYS I color(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w) {
  if constexpr (K == kLinear) return linear_color<C, k>(base, offset, stride, w);
  else return cubic_color<C, k>(base, offset, stride, w);
}
// kLanes outputs.
template <int C, Filter K>
PENSTOCK_ALWAYS void blend(const uint8_t* base, const int32_t* offset, int64_t stride, const Weights& w, uint8_t* out) {
  if constexpr (C == 1) {
    if constexpr (K == kLinear) store_bytes(out, linear_gray(base, offset, stride, w));
    else store_bytes(out, cubic_gray(base, offset, stride, w));
  } else {
    const I v = packed(color<C, K, 0>(base, offset, stride, w), color<C, K, 1>(base, offset, stride, w),
                       color<C, K, 2>(base, offset, stride, w), color<C, K, 3>(base, offset, stride, w));
    if constexpr (C == 3) store_rgb(out, v);
    else store(out, v);
  }
}

// The cells of kLanes outputs with resolved borders, in rows of 16 bytes.
template <int C, Filter K>
__attribute__((noinline)) void copy_cells(const Image& s, const int32_t* at_x, const int32_t* at_y, uint8_t* cells) {
  constexpr int kTaps = taps_of(K), kBefore = K == kCubic;
  const auto* in = static_cast<const uint8_t*>(s.data);
  for (int i = 0; i < kLanes; ++i) {
    int32_t u[kTaps];
    for (int t = 0; t < kTaps; ++t) u[t] = bordered(at_x[i] - kBefore + t, s.source.width, s.source.border);
    for (int r = 0; r < kTaps; ++r, cells += 16) {
      const int32_t v = bordered(at_y[i] - kBefore + r, s.source.height, s.source.border);
      for (int t = 0; t < kTaps; ++t) {
        const bool outside = v < 0 || u[t] < 0;
        const void* from = outside ? static_cast<const void*>(s.fill) : in + (int64_t{v} * s.source.width + u[t]) * C;
        std::memcpy(cells + C * t, from, C);
      }
    }
  }
}
// kLanes outputs from output i of a block on, of which some read outside.
template <int C, Filter K>
__attribute__((noinline)) void border_bytes(const Image& s, const Positions<float>& p, int i, uint8_t* out) {
  const I x = load<I>(p.at[0] + i), y = load<I>(p.at[1] + i);
  if (s.source.border == kConstant && !s.exact_fill) {
    for (int k = 0; k < kLanes; ++k) sample_pixel(s, p, i + k, out + C * k);
    return;
  }
  if (s.source.border == kConstant &&
      (all(x < -2) || all(x > s.source.width) || all(y < -2) || all(y > s.source.height))) {
    for (int k = 0; k < kLanes; ++k) std::memcpy(out + C * k, s.fill, C);
    return;
  }
  constexpr int kCell = taps_of(K) * 16;
  uint8_t cells[kLanes * kCell];
  alignas(64) int32_t offset[kLanes];
  for (int k = 0; k < kLanes; ++k) offset[k] = k * kCell;
  copy_cells<C, K>(s, p.at[0] + i, p.at[1] + i, cells);
  Weights w;
  find_weights<K>(load<F>(p.weight[0] + i), w.x), find_weights<K>(load<F>(p.weight[1] + i), w.y);
  blend<C, K>(cells, offset, 16, w, out);
}

template <int C, Filter K> void bytes_row(const Image& s, const Positions<float>& p, int n, void* out) {
  constexpr int kReads = C == 1 ? taps_of(K) : K == kLinear ? 8 : 16, kBefore = K == kCubic;
  const Inside inside(s, C, kReads);
  const auto* in = static_cast<const uint8_t*>(s.data);
  const int32_t stride = s.source.width * C;
  auto* to = static_cast<uint8_t*>(out);
  for (int i = 0; i < n; i += kLanes, to += kLanes * C) {
    uint8_t rest[kLanes * 4];
    uint8_t* here = i + kLanes <= n ? to : rest;
    const I x = load<I>(p.at[0] + i), y = load<I>(p.at[1] + i);
    if (__builtin_expect(all((x >= inside.low) & (x <= inside.last_x) & (y >= inside.low) & (y <= inside.last_y)), 1)) {
      alignas(64) int32_t offset[kLanes];
      store(offset, (y - kBefore) * stride + (x - kBefore) * C);
      request_rows_ahead<pixels_of_request(C)>(in, stride * p.downward, offset, kLanes);
      Weights w;
      find_weights<K>(load<F>(p.weight[0] + i), w.x), find_weights<K>(load<F>(p.weight[1] + i), w.y);
      blend<C, K>(in, offset, stride, w, here);
    } else {
      border_bytes<C, K>(s, p, i, here);
    }
    if (here == rest) std::memcpy(to, rest, static_cast<size_t>(n - i) * C);
  }
}
