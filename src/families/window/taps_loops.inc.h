// SPDX-License-Identifier: Apache-2.0
// Included once per target by taps_rows.cpp: weighted sums of neighbors, several vectors of a row at once.
constexpr int kLanes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

// As many sums as registers hold beside a weight and an element.
template <int vectors> inline void sums(Lanes (&sum)[vectors], const float* const* rows, int64_t at, int64_t pixel,
                                        const TapsCoef& c) {
  for (Lanes& s : sum) s = Lanes{};
  const float* weight = c.weights;
  for (int64_t j = 0; j < c.height; ++j) {
    const float* from = rows[j] + at;
    for (int64_t i = 0; i < c.width; ++i, from += pixel) {
      const float w = *weight++;
      for (int k = 0; k < vectors; ++k) {
        Lanes v;
        std::memcpy(&v, from + k * kLanes, sizeof v);
        sum[k] += w * v;
      }
    }
  }
}

inline void taps(float* to, const float* const* rows, int64_t n, int64_t pixel, const void* coef) {
  const TapsCoef c = *static_cast<const TapsCoef*>(coef);
  constexpr int kVectors = 6;
  rows -= c.y;
  int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    Lanes sum[kVectors];
    sums(sum, rows, i - c.x * pixel, pixel, c);
    std::memcpy(to + i, sum, sizeof sum);
  }
  for (; i < n; i += kLanes) {
    Lanes sum[1];
    sums(sum, rows, i - c.x * pixel, pixel, c);
    std::memcpy(to + i, sum, static_cast<size_t>(std::min<int64_t>(n - i, kLanes)) * sizeof(float));
  }
}
