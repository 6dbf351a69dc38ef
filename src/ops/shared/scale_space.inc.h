// SPDX-License-Identifier: Apache-2.0
// Sums of a Gaussian window, included once per target by scale_space.cpp. The window is symmetric; sums begin in the
// middle, so that all numbers of a row are computed alike.

// A vector is as wide as a register: GCC keeps wider ones in memory, element by element.
constexpr int64_t kWide = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
using Lanes = float __attribute__((vector_size(kWide * sizeof(float))));
constexpr int64_t kBlock = 8;  // vectors of a row whose sums stay in registers

PENSTOCK_INLINE void load(const float* at, Lanes& v) { std::memcpy(&v, at, sizeof v); }
template <int64_t n, class Pair> PENSTOCK_INLINE void sum_block(const float* taps, int radius, const float* middle,
                                                                const Pair& pair, float* to) {
  Lanes sum[n];
  for (int64_t v = 0; v < n; ++v) {
    load(middle + kWide * v, sum[v]);
    sum[v] *= taps[0];
  }
  for (int k = 1; k <= radius; ++k) {
    const auto [before, after] = pair(k);
    for (int64_t v = 0; v < n; ++v) {
      Lanes a, b;
      load(before + kWide * v, a), load(after + kWide * v, b);
      sum[v] += (a + b) * taps[k];
    }
  }
  for (int64_t v = 0; v < n; ++v) std::memcpy(to + kWide * v, &sum[v], sizeof sum[v]);
}
template <class Pair> PENSTOCK_INLINE void sum_row(const float* taps, int radius, const float* middle, int64_t width,
                                                   const Pair& pair, float* to) {
  int64_t x = 0;
  const auto at = [&](int k) {
    const auto [before, after] = pair(k);
    return std::pair(before + x, after + x);
  };
  for (; x + kWide * kBlock <= width; x += kWide * kBlock) sum_block<kBlock>(taps, radius, middle + x, at, to + x);
  for (; x + kWide * 2 <= width; x += kWide * 2) sum_block<2>(taps, radius, middle + x, at, to + x);
  for (; x + kWide <= width; x += kWide) sum_block<1>(taps, radius, middle + x, at, to + x);
  for (; x < width; ++x) {
    float sum = middle[x] * taps[0];
    for (int k = 1; k <= radius; ++k) {
      const auto [before, after] = at(k);
      sum += (before[0] + after[0]) * taps[k];
    }
    to[x] = sum;
  }
}
// rows[0] is the middle one.
inline void blur_down(const float* const* rows, const float* taps, int radius, int64_t width, float* to) {
  sum_row(taps, radius, rows[0], width, [&](int k) { return std::pair(rows[-k], rows[k]); }, to);
}
// `padded` has `radius` numbers before and after the row.
inline void blur_across(const float* padded, const float* taps, int radius, int64_t width, float* to) {
  sum_row(taps, radius, padded, width, [&](int k) { return std::pair(padded - k, padded + k); }, to);
}
inline void subtract(const float* a, const float* b, int64_t n, float* to) {
  for (int64_t x = 0; x < n; ++x) to[x] = a[x] - b[x];
}
