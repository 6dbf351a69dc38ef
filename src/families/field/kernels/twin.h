// SPDX-License-Identifier: Apache-2.0
// The family element by element, as it is defined: loops and kernels give the same. They also use it where they have no
// form of their own.
#pragma once
#include "families/field/kernels/draws.h"

namespace penstock::field {

template <class T, class Rule>
PENSTOCK_INLINE T with_normal(T in, const RandomStream& stream, uint64_t e, const typename Rule::Coef& coef) {
  using V = NumberOf<T>;
  return stored<T>(Rule::template noisy<V>(static_cast<V>(in), normal_of(stream, e, V(0)), coef));
}

// ---- Poisson numbers.

constexpr float kFewCounts = 16;    // means below are inverted
constexpr float kMostMean = 1e15f;  // of larger ones float32 tells nothing but the mean itself
// Inversion stops where a count's probability is at most so much: a sum of float32 numbers may not reach 1.
constexpr float kLeastProbability = 1e-9f;
// The count of a uniform number: probabilities are added up until they exceed it.
PENSTOCK_INLINE float few_counts(float mean, uint32_t word) {
  const float u = uniform01(word);
  float part = f32::exp(-mean), sum = part, k = 0;
  while (u >= sum && part > kLeastProbability) {
    k += 1.0f;
    part *= mean * (1.0f / k), sum += part;
  }
  return k;
}
// The logarithm of the probability of k, from differences of k and mean: large terms would cancel each other.
// Source: C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
PENSTOCK_INLINE float log_probability(float count, float mean, float difference) {
  const float k = count < 1 ? 1.0f : count;
  const float v = difference / (k + mean);
  const float z = v * v;
  const float near = difference * v + 2 * k * v * z * (0.33333334f + z * (0.2f + z * (0.14285715f + z * 0.11111111f)));
  const float deviance = abs(v) < 0.2f ? near : k * f32::log(k / mean) - difference;
  const float r = 1 / k;  // Stirling's series
  const float log_of = -deviance - 0.5f * f32::log(6.2831855f * k) - r * (0.083333336f - r * r * 0.0027777778f);
  return count < 1 ? -mean : log_of;
}
// Transformed rejection (PTRS): a count, or -1 where the attempt fails. V holds the counts; what decides is in float32.
// Source: W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993.
template <class V> PENSTOCK_INLINE V attempted_count(V wide_mean, uint32_t word1, uint32_t word3) {
  const float mean = static_cast<float>(wide_mean);
  const float width = 0.931f + 2.53f * sqrt(mean);
  const float a = -0.059f + 0.02483f * width;
  const float u = static_cast<float>(static_cast<int32_t>(word1 ^ 0x80000000u)) * 0x1p-32f;
  const float v = static_cast<float>(static_cast<int32_t>(~word3 >> 1)) * 0x1p-31f + 0x1p-32f;
  const float left = 0.5f - abs(u), scale = 1.1239f + 1.1328f / (width - 3.4f);
  const V k = floor(wide_mean + ((2 * a / left + width) * u + 0.43f));
  const bool inside = (left >= 0.07f) & (v <= 0.9277f - 3.6224f / (width - 2));
  const bool possible = (left > 0) & (k >= 0) & ((left >= 0.013f) | (v <= left));
  const bool below = f32::log(v * scale / (a / (left * left) + width)) <=
                     log_probability(static_cast<float>(k), mean, static_cast<float>(k - wide_mean));
  return inside | (possible & below) ? k : V(-1);
}
// Each attempt has a block of the element's own.
template <class V>
PENSTOCK_HD inline V many_counts(V mean, const RandomStream& stream, uint64_t e, uint64_t attempt = 1) {
  for (; attempt < 1024; ++attempt) {
    const PhiloxBlock b = stream.block(own_block(e, attempt));
    if (const V k = attempted_count(mean, b.word[1], b.word[3]); k >= 0) return k;
  }
  return floor(mean);
}
// No mean: 0. A mean that is too large: the mean.
template <class V> PENSTOCK_INLINE V counts_of(V mean, uint32_t word, const RandomStream& stream, uint64_t e) {
  if (!(mean > 0)) return 0;
  if (!(mean < kMostMean)) return mean;
  if (mean < kFewCounts) return few_counts(static_cast<float>(mean), word);
  return many_counts(mean, stream, e);
}
template <class T, class Rule>
PENSTOCK_INLINE T with_count(T in, uint32_t word, const RandomStream& stream, uint64_t e,
                             const typename Rule::Coef& coef) {
  using V = NumberOf<T>;
  const V v = static_cast<V>(in);
  return stored<T>(Rule::template noisy<V>(v, counts_of<V>(Rule::template mean<V>(v, coef), word, stream, e), coef));
}

// ---- Replacement.

// Positions of an image; each has `channels` elements, `inner` apart.
struct Positions {
  int64_t count, channels, inner;
};
PENSTOCK_INLINE int64_t first_element(const Positions& p, int64_t position) {
  const int64_t outer = position / p.inner;
  return outer * p.inner * p.channels + (position - outer * p.inner);
}
template <class T, class Rule>
PENSTOCK_INLINE void replace_position(const T* in, T* out, const Positions& p, int64_t position, uint32_t word,
                                      uint32_t last, const typename Rule::Coef& coef) {
  const int64_t first = first_element(p, position);
  for (int64_t c = 0; c < p.channels; ++c) {
    const int64_t i = first + c * p.inner;
    out[i] = word <= last ? stored<T>(Rule::value(word, coef)) : in[i];
  }
}

}  // namespace penstock::field
