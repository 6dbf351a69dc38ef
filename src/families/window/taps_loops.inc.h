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

template <bool kPast> inline void store(float* to, const Lanes& sum) {
#if PENSTOCK_TARGET_FLOATS == 16
  if constexpr (kPast) return _mm512_stream_ps(to, reinterpret_cast<const __m512&>(sum));
#elif PENSTOCK_TARGET_FLOATS
  if constexpr (kPast) return _mm256_stream_ps(to, reinterpret_cast<const __m256&>(sum));
#endif
  std::memcpy(to, &sum, sizeof sum);
}

constexpr int kVectors = 6;
template <bool kPast>
int64_t taps_of_blocks(float* to, const float* const* rows, int64_t n, int64_t pixel, const TapsCoef& c,
                       const float* next) {
  int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    Lanes sum[kVectors];
    if (next)
      for (int k = 0; k < kVectors; ++k) __builtin_prefetch(next + i + k * kLanes);
    sums(sum, rows, i - c.x * pixel, pixel, c);
    for (int k = 0; k < kVectors; ++k) store<kPast>(to + i + k * kLanes, sum[k]);
  }
  return i;
}

inline void taps(float* to, const float* const* rows, int64_t n, int64_t pixel, const void* coef,
                 const RowMemory& memory) {
  const TapsCoef c = *static_cast<const TapsCoef*>(coef);
  rows -= c.y;
  const bool past = memory.past_caches && reinterpret_cast<uintptr_t>(to) % sizeof(Lanes) == 0;
  int64_t i = past ? taps_of_blocks<true>(to, rows, n, pixel, c, memory.next)
                   : taps_of_blocks<false>(to, rows, n, pixel, c, memory.next);
  for (; i < n; i += kLanes) {
    Lanes sum[1];
    sums(sum, rows, i - c.x * pixel, pixel, c);
    std::memcpy(to + i, sum, static_cast<size_t>(std::min<int64_t>(n - i, kLanes)) * sizeof(float));
  }
}
