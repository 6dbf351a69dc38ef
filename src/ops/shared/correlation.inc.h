// SPDX-License-Identifier: Apache-2.0
// Rows of weighted sums, included once per target by correlation.cpp.

// Sums of elements [begin, end) of the row at p, whose neighbors in it are all inside: those of CorrelationRule::at,
// which adds in the same order.
template <class In>
void sum_row(const In* in, const CorrelationRule::Coef& c, const float* weights, const ImageRule::Place& p,
             int64_t begin, int64_t end, NumberOf<In>* row) {
  using N = NumberOf<In>;
  constexpr int64_t kBlock = 512;
  const N fill = static_cast<N>(c.fill ? *static_cast<const In*>(c.fill) : static_cast<In>(0.0f));
  for (; begin < end; begin += kBlock) {
    const int64_t n = std::min(kBlock, end - begin), step = c.in.inner;
    N* const sums = row + begin;
    std::fill_n(sums, n, N(0));
    const float* w = weights;
    for (int64_t k = 0; k < c.window[0]; ++k) {
      const int64_t z = ImageRule::bordered(p.z - c.anchor[0] + k, c.in.depth, c.border);
      for (int64_t j = 0; j < c.window[1]; ++j) {
        const int64_t y = ImageRule::bordered(p.y - c.anchor[1] + j, c.in.height, c.border);
        int64_t i = 0;
        if (z < 0 || y < 0) {
          for (; i < c.window[2]; ++i, ++w)
            for (int64_t e = 0; e < n; ++e) sums[e] += *w * fill;
          continue;
        }
        const In* from = in + ImageRule::offset_of(c.in, p.outer, z, y, -c.anchor[2], begin);
        for (; i + 3 <= c.window[2]; i += 3, w += 3, from += 3 * step)
          for (int64_t e = 0; e < n; ++e)
            sums[e] = ((sums[e] + w[0] * static_cast<N>(from[e])) + w[1] * static_cast<N>(from[e + step])) +
                      w[2] * static_cast<N>(from[e + 2 * step]);
        for (; i < c.window[2]; ++i, ++w, from += step)
          for (int64_t e = 0; e < n; ++e) sums[e] += *w * static_cast<N>(from[e]);
      }
    }
  }
}

template <class N, class Out> void store_row(const N* sums, int64_t n, Out* out) {
  for (int64_t e = 0; e < n; ++e) out[e] = stored<Out>(sums[e]);
}

// Sums of bytes with weights whose sums int16 holds, as values of the result.
template <class Out>
void sum_bytes_of_row(const uint8_t* in, const CorrelationRule::Coef& c, const int16_t* weights,
                      const ImageRule::Place& p, int64_t begin, int64_t end, Out* out) {
  constexpr int64_t kBlock = 1024;
  int16_t sums[kBlock];
  const auto fill = static_cast<int16_t>(c.fill ? *static_cast<const uint8_t*>(c.fill) : 0);
  for (; begin < end; begin += kBlock) {
    const int64_t n = std::min(kBlock, end - begin), step = c.in.inner;
    std::fill_n(sums, n, int16_t(0));
    const int16_t* w = weights;
    for (int64_t k = 0; k < c.window[0]; ++k) {
      const int64_t z = ImageRule::bordered(p.z - c.anchor[0] + k, c.in.depth, c.border);
      for (int64_t j = 0; j < c.window[1]; ++j) {
        const int64_t y = ImageRule::bordered(p.y - c.anchor[1] + j, c.in.height, c.border);
        int64_t i = 0;
        if (z < 0 || y < 0) {
          for (; i < c.window[2]; ++i, ++w)
            for (int64_t e = 0; e < n; ++e) sums[e] = static_cast<int16_t>(sums[e] + *w * fill);
          continue;
        }
        const uint8_t* from = in + ImageRule::offset_of(c.in, p.outer, z, y, -c.anchor[2], begin);
        for (; i + 3 <= c.window[2]; i += 3, w += 3, from += 3 * step) {
          const int16_t a = w[0], b = w[1], d = w[2];
          for (int64_t e = 0; e < n; ++e)
            sums[e] = static_cast<int16_t>(sums[e] + a * from[e] + b * from[e + step] + d * from[e + 2 * step]);
        }
        for (; i < c.window[2]; ++i, ++w, from += step) {
          const int16_t a = *w;
          for (int64_t e = 0; e < n; ++e) sums[e] = static_cast<int16_t>(sums[e] + a * from[e]);
        }
      }
    }
    for (int64_t e = 0; e < n; ++e) {
      if constexpr (std::is_same_v<Out, uint8_t>)
        out[begin + e] = static_cast<uint8_t>(std::clamp<int16_t>(sums[e], 0, 255));
      else out[begin + e] = stored<Out>(static_cast<float>(sums[e]));
    }
  }
}
