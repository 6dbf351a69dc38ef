// SPDX-License-Identifier: Apache-2.0
// The sums of random fields, included once per target by field.cpp. Each is in the order of the window.
#if PENSTOCK_TARGET_FLOATS
#include "families/gather/vectors.inc.h"
#undef PENSTOCK_ALWAYS
constexpr int kStep = kLanes;
inline F all_lanes(float v) { return F{} + v; }
#else
using F = float;
constexpr int kStep = 1;
inline F all_lanes(float v) { return v; }
template <class V> V load(const float* p) { return *p; }
inline void store(float* p, float v) { *p = v; }
inline F fma_of(F a, F b, F c) { return fma(a, b, c); }
#endif

// Vectors of sums that registers hold.
constexpr int kSums = 8;

// Sums of `taps` neighbors from in[x] on, for n places and for what completes the last vectors.
inline void across(const float* in, const float* weights, int taps, int n, float* out) {
  for (int x = 0; x < n; x += kSums * kStep) {
    F sums[kSums] = {};
    for (int k = 0; k < taps; ++k) {
      const F weight = all_lanes(weights[k]);
#pragma GCC unroll 8
      for (int j = 0; j < kSums; ++j) sums[j] = fma_of(weight, load<F>(in + x + k + j * kStep), sums[j]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < kSums; ++j) store(out + x + j * kStep, sums[j]);
  }
}
// The same down, from each of kFieldRows rows on, times `scale`. `weights` are those of the first row; zeros are around
// them.
inline void down(const float* const* rows, const float* weights, int taps, int n, float scale, float* const* out) {
  constexpr int kAcross = kSums / kFieldRows;
  int x = 0;
  for (; x + kAcross * kStep <= n; x += kAcross * kStep) {
    F sums[kFieldRows][kAcross] = {};
    for (int k = 0; k < taps + kFieldRows - 1; ++k) {
      F v[kAcross];
#pragma GCC unroll 8
      for (int i = 0; i < kAcross; ++i) v[i] = load<F>(rows[k] + x + i * kStep);
#pragma GCC unroll 8
      for (int j = 0; j < kFieldRows; ++j) {
        const F weight = all_lanes(weights[k - j]);
#pragma GCC unroll 8
        for (int i = 0; i < kAcross; ++i) sums[j][i] = fma_of(weight, v[i], sums[j][i]);
      }
    }
#pragma GCC unroll 8
    for (int j = 0; j < kFieldRows; ++j)
#pragma GCC unroll 8
      for (int i = 0; i < kAcross; ++i) store(out[j] + x + i * kStep, sums[j][i] * all_lanes(scale));
  }
  for (; x < n; ++x)
    for (int j = 0; j < kFieldRows; ++j) {
      float sum = 0;
      for (int k = 0; k < taps + kFieldRows - 1; ++k) sum = fma(weights[k - j], rows[k][x], sum);
      out[j][x] = sum * scale;
    }
}
