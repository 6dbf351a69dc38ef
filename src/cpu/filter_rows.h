// SPDX-License-Identifier: Apache-2.0
// The two passes of separable filtering, row by row. On all targets the order of the sum is the order of the taps.
#pragma once
#include <cstdint>
#include <vector>

#include "base/line_vector.h"
#include "operator/bound_op.h"

namespace penstock {

// How a row of planes is resampled by permutations of registers: outputs are in groups of `lanes`. Each of the `parts`
// of a group reads two registers that start at its own base.
struct RowPlan {
  int lanes = 0, parts = 0;   // parts 0: no plan; the samples that outputs read are too far apart
  bool held = false;          // one part, and all taps of a group are in the two registers: they are read once
  bool narrow = false;        // one part, and the samples of each tap are in one register; not held
  std::vector<int32_t> base;  // by group and part: the lowest sample of tap 0; if held, of all taps
  LineVector<int32_t> index;  // by group and lane: the sample of tap 0, minus the base
  LineVector<float> weight;   // by group, tap and lane
};

// Rows of the source that the next sum reads and this one does not. Processors ask by themselves for what follows
// within a page of memory, and a row of pixels in float32 is longer.
template <class T> struct NextRows {
  static constexpr int kMost = 4;
  const T* rows[kMost];
  int count = 0;
};

struct FilterRows {
  // acc[i] = sum over k of weight[k] * rows[k][i], i in [0, n); rows hold T. With `more` the sum is added to acc.
  // Asks for the memory of `next`.
  template <class T>
  using Vertical = void (*)(const T* const* rows, const float* weight, int taps, float* acc, int64_t n, bool more,
                            const NextRows<T>& next);
  Vertical<uint8_t> vertical_u8;
  Vertical<uint16_t> vertical_u16;
  Vertical<float> vertical_f32;
  // planes[c][o] = sum over k of weight[o * taps + k] * acc[(base[o] + k * step) * channels + c], o in [0, n).
  // acc must be readable 3 floats past its end.
  void (*horizontal)(const float* acc, int channels, const int32_t* base, int step, const float* weight, int taps,
                     float* const* planes, int64_t n);
  // The same on planes: out[c][o] = sum over k of weight[o * taps + k] * acc[c][base[o] + k * step], o in [begin, end).
  // begin is a multiple of plan.lanes. Each plane of acc must be readable 2 * lanes floats past its end, and each plane
  // of out, which begins at output `begin`, writable up to a multiple of lanes. `past_caches`: one plane that is at a
  // multiple of vectors goes past the caches, and needs a fence before another thread reads it.
  void (*resample_planes)(const float* const* acc, int planes, const RowPlan& plan, int step, int taps,
                          float* const* out, int64_t begin, int64_t end, bool past_caches);
  // Luma, Cb and Cr (JFIF, ITU-R BT.601: full range, chroma around 128) to red, green and blue from 0 to 255, in place.
  void (*to_rgb)(float* luma, float* cb, float* cr, int64_t n);
  int lanes;  // of a plan; 0: the target does not gain from one
  // out[i] = sum over k of weight[k] * in[i + k * hop], i in [0, n): outputs that share their weights.
  void (*convolve)(const float* in, int64_t hop, const float* weight, int taps, float* out, int64_t n);
  // As horizontal, but the results are pixels, [o * channels + c]; nothing is written after them.
  void (*horizontal_to_pixels)(const float* acc, int channels, const int32_t* base, int step, const float* weight,
                               int taps, float* out, int64_t n);
};
const FilterRows& filter_rows(Target t);
// Output o reads base[o] + step * k for tap k; step is 1 or -1. Samples of several channels are a plane of
// count * channels outputs, with taps that are step * channels apart.
void plan_row(const int32_t* base, int64_t count, int step, const float* weight, int taps, int channels, int lanes,
              RowPlan& plan);

}  // namespace penstock
