// SPDX-License-Identifier: Apache-2.0
// Weighted sums of neighbors on a GPU: a block has a tile of the input with what its windows see in shared memory, as
// float32. A thread makes kTapSums neighbors of a row at once, so that it reads each element and each weight once for
// several of them. Sums are in the order of the window, row by row. Lanes of a warp take different rows, whose distance
// is odd: so no two read the same bank.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "launch/entry.h"
#include "pixel/stored.h"

namespace penstock::window {

using namespace whole;

constexpr int kTapSums = 8;   // pixels of a row that a thread makes at once
constexpr int kTapRows = 32;  // of a tile: a lane each
constexpr int kTapWarps = kThreads / 32;

// Elements of a row are its pixels with their channels.
struct TapsRow {
  const void* in;
  void* out;
  const float* weights;  // null: those in the data
  InData<float> own_weights;
  const void* fill;  // an element outside a constant border; null: 0
  int64_t height, width, channels;
  int64_t out_height, out_width;
  int64_t tiles_across, tiles_down;  // of an image
  int32_t left, above;               // pixels that a window reaches so far
  int32_t window_width, window_height;
  int32_t tile_width;  // in pixels
  int32_t border;
};
static_assert(sizeof(TapsRow) == 120);

// Rows of the tile are so many numbers apart, and rows of results so many bytes: an odd number of banks.
PENSTOCK_HD inline int taps_stride(int columns) { return columns | 1; }
PENSTOCK_HD inline int taps_out_stride(int bytes) { return 4 * ((bytes + 3) / 4 | 1); }

// Not inlined: few elements are outside, and a compiler takes long for the divisions of borders.
template <class Rule>
__attribute__((noinline)) PENSTOCK_HD int64_t tapped_pixel(int64_t at, int64_t n, int border) {
  return Rule::bordered(at, n, border);
}

// `columns` elements of `rows` rows, from element x0 of row y0 of the image on. A warp takes a row.
template <class In, class Rule> PENSTOCK_KERNEL void load_taps(float* tile, const In* in, const TapsRow& r, int64_t x0,
                                                               int64_t y0, int columns, int rows, int stride) {
  const int channels = static_cast<int>(r.channels);
  const int64_t length = r.width * r.channels;
  const float fill = r.fill ? static_cast<float>(*static_cast<const In*>(r.fill)) : 0.0f;
  const int begin = x0 < 0 ? static_cast<int>(-x0 < columns ? -x0 : columns) : 0;
  const int end = x0 + columns > length ? static_cast<int>(length > x0 ? length - x0 : 0) : columns;
  PENSTOCK_UNROLL_BY(1)
  for (int item = thread(); item < 32 * rows; item += threads()) {
    const int row = item / 32, lane = item % 32;
    int64_t y = y0 + row;
    if (static_cast<uint64_t>(y) >= static_cast<uint64_t>(r.height)) y = tapped_pixel<Rule>(y, r.height, r.border);
    float* const to = tile + row * stride;
    const In* const from = in + (y < 0 ? 0 : y) * length;
    if (y >= 0 && begin == 0 && end == columns) {
      PENSTOCK_UNROLL_BY(4)
      for (int c = lane; c < columns; c += 32) to[c] = static_cast<float>(from[x0 + c]);
      continue;
    }
    PENSTOCK_UNROLL_BY(1)
    for (int c = lane; c < columns; c += 32) {
      float v = fill;
      if (y >= 0 && c >= begin && c < end) {
        v = static_cast<float>(from[x0 + c]);
      } else if (y >= 0) {
        const int pixel = c / channels;  // the tile begins with a pixel
        const int64_t x = tapped_pixel<Rule>(x0 / channels + pixel, r.width, r.border);
        if (x >= 0) v = static_cast<float>(from[x * channels + (c - pixel * channels)]);
      }
      to[c] = v;
    }
  }
}

// Adds the neighbors in a row of the window to each sum. `width`: of the window, or 0 if it is not known here.
template <int width> PENSTOCK_KERNEL void add_taps(float (&sums)[kTapSums], const float* from, const float* weights,
                                                   int count, int channels) {
  float v[kTapSums + (width ? width - 1 : 0)];
  constexpr int kFirst = sizeof v / sizeof *v;
  PENSTOCK_UNROLL
  for (int k = 0; k < kFirst; ++k) v[k] = from[k * channels];
  if constexpr (width != 0) {
    PENSTOCK_UNROLL
    for (int i = 0; i < width; ++i) {
      const float weight = weights[i];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTapSums; ++k) sums[k] += weight * v[k + i];
    }
  } else {
    from += kTapSums * channels;
    PENSTOCK_UNROLL_BY(4)
    for (int i = 0; i < count; ++i) {
      const float weight = weights[i];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTapSums; ++k) sums[k] += weight * v[k];
      PENSTOCK_UNROLL
      for (int k = 0; k < kTapSums - 1; ++k) v[k] = v[k + 1];
      if (i + 1 < count) v[kTapSums - 1] = from[i * channels];
    }
  }
}

// Writes `rows` rows of `count` results from shared memory, whose distance there is `stride` bytes. A warp takes a row.
template <class Out> PENSTOCK_KERNEL void store_taps(Out* out, int64_t length, const char* staged, int stride,
                                                     int count, int rows) {
  constexpr int kEach = sizeof(Out) < 4 ? static_cast<int>(4 / sizeof(Out)) : 1;  // of a word
  PENSTOCK_UNROLL_BY(1)
  for (int item = thread(); item < 32 * rows; item += threads()) {
    const int row = item / 32, lane = item % 32;
    Out* const to = out + row * length;
    const Out* const from = reinterpret_cast<const Out*>(staged + row * stride);
    int done = 0;
    if (kEach > 1 && reinterpret_cast<uint64_t>(to) % 4 == 0) {
      done = count / kEach * kEach;
      for (int c = lane; c < count / kEach; c += 32)
        reinterpret_cast<uint32_t*>(to)[c] = reinterpret_cast<const uint32_t*>(from)[c];
    }
    for (int c = done + lane; c < count; c += 32) to[c] = from[c];
  }
}

// Units of work are tiles. Rule: bordered() of ImageRule.
template <class In, class Out, int width, class Rule> PENSTOCK_KERNEL void taps(const Entry<TapsRow>& e) {
  const TapsRow& r = e.row;
  const int channels = static_cast<int>(r.channels), tile_width = r.tile_width, across = r.window_width;
  const int high = r.window_height;
  const int stride = taps_stride((tile_width + across - 1) * channels);
  const int out_stride = taps_out_stride(tile_width * channels * static_cast<int>(sizeof(Out)));
  float* const tile = shared_memory<float>();
  float* const weights = tile + stride * (kTapRows + high - 1);
  char* const staged = reinterpret_cast<char*>(weights + across * high);
  const float* const given = r.weights ? r.weights : e.at(r.own_weights);
  for (int item = thread(); item < across * high; item += threads()) weights[item] = given[item];
  for (int64_t i = e.begin; i < e.end; ++i) {
    const int64_t x0 = i % r.tiles_across * tile_width, y0 = i / r.tiles_across % r.tiles_down * kTapRows;
    const int64_t image = i / r.tiles_across / r.tiles_down;
    const int pixels = static_cast<int>(r.out_width - x0 < tile_width ? r.out_width - x0 : tile_width);
    const int rows = static_cast<int>(r.out_height - y0 < kTapRows ? r.out_height - y0 : kTapRows);
    const In* const in = static_cast<const In*>(r.in) + image * r.height * r.width * channels;
    load_taps<In, Rule>(tile, in, r, (x0 - r.left) * channels, y0 - r.above, (pixels + across - 1) * channels,
                        rows + high - 1, stride);
    wait_for_block();
    const int groups = (pixels + kTapSums - 1) / kTapSums * channels;
    PENSTOCK_UNROLL_BY(1)
    for (int item = thread(); item < 32 * groups; item += threads()) {
      const int g = item / 32, lane = item % 32;
      if (lane >= rows) continue;
      const int group = g / channels, at = group * kTapSums * channels + (g - group * channels);
      float sums[kTapSums] = {};
      const float *from = tile + lane * stride + at, *weight = weights;
      PENSTOCK_UNROLL_BY(1)
      for (int j = 0; j < high; ++j, from += stride, weight += across)
        add_taps<width>(sums, from, weight, across, channels);
      Out* const to = reinterpret_cast<Out*>(staged + lane * out_stride) + at;
      PENSTOCK_UNROLL
      for (int k = 0; k < kTapSums; ++k) to[k * channels] = stored<Out>(sums[k]);
    }
    wait_for_block();
    const int64_t length = r.out_width * channels;
    store_taps(static_cast<Out*>(r.out) + (image * r.out_height + y0) * length + x0 * channels, length, staged,
               out_stride, pixels * channels, rows);
  }
}

}  // namespace penstock::window
