// SPDX-License-Identifier: Apache-2.0
// Included once per target by resampling.cpp. Weights and sums are those of ResampleRule (ops/audio_resample.cpp).

typedef float Eight __attribute__((vector_size(32)));
inline Eight eight(const float* p) {
  Eight v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Writes whole vectors: up to 7 numbers beyond. `row`: of the table, at the neighbors' first place.
inline void make_weights(const float* row, int64_t to_next_row, float part, int count, float* to) {
  for (int i = 0; i < count; i += 8) {
    const Eight low = eight(row + i), high = eight(row + i + to_next_row);
    const Eight weights = low + part * (high - low);
    std::memcpy(to + i, &weights, sizeof weights);
  }
}

// Eight partial sums, joined in a fixed order; the rest of the elements one by one.
inline float weighed(const float* __restrict v, const float* __restrict weights, int count) {
  typedef float Four __attribute__((vector_size(16)));
  Eight part = {};
  int i = 0;
  for (; i + 8 <= count; i += 8) part += eight(weights + i) * eight(v + i);
  Four half[2];
  std::memcpy(half, &part, sizeof part);
  const Four joined = half[0] + half[1];
  float sum = (joined[0] + joined[1]) + (joined[2] + joined[3]);
  for (; i < count; ++i) sum += weights[i] * v[i];
  return sum;
}
