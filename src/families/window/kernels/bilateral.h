// SPDX-License-Identifier: Apache-2.0
// Means of neighbors that count by their distance and by how a guide differs between them and the center: the sums of a
// pixel, and the kernel. A thread makes a pixel, whose neighbors are in the cache.
#pragma once
#include <bit>
#include <cstdint>

#include "base/half.h"
#include "launch/entry.h"
#include "pixel/stored.h"

namespace penstock::window {

using namespace whole;

constexpr int kBilateralChannels = 4;  // at most

struct BilateralTap {
  int32_t down, right;  // to the neighbor
  float exponent;       // of 2: how much it counts by its distance
};

// Where elements are: those of a pixel are `channel` apart, pixels of a row `pixel`.
struct BilateralPlanes {
  const void* data;
  int64_t channels, pixel, channel;
};

struct BilateralRow {
  BilateralPlanes image, guide;
  void* out;  // in the order of the image
  int64_t height, width;
  InData<BilateralTap> taps;
  int32_t count, border;
  int32_t joint;  // 0: the guide is the image
  float color;    // by which the square of a difference is multiplied to be the exponent of 2
};
static_assert(sizeof(BilateralRow) == 112);

// 2^v, v <= 0, within 3e-6 of it: v is a whole number and a rest, whose power is a polynomial that is 1 at 0 and
// fitted elsewhere. The loops of the CPU have the same on vectors (bilateral_loops.inc.h).
PENSTOCK_KERNEL float falling_power(float v) {
  v = v < -126.0f ? -126.0f : v;
  const float sum = v + 0x1.8p23f, f = v - (sum - 0x1.8p23f);
  const float p = fma(fma(fma(fma(f, 9.5828241e-3f, 5.5906422e-2f), f, 2.4024099e-1f), f, 6.9312418e-1f), f, 1.0f);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + (std::bit_cast<uint32_t>(sum) << 23));
}

// The results of pixel (y, x) of an image whose elements begin at `in` and at `guide`. Rule: bordered() of ImageRule.
template <class T, class Rule>
PENSTOCK_KERNEL void bilateral_pixel(const BilateralRow& r, const BilateralTap* taps, const T* in, const T* guide,
                                     int64_t y, int64_t x, float (&results)[kBilateralChannels]) {
  const BilateralPlanes &image = r.image, &other = r.joint ? r.guide : r.image;
  float center[kBilateralChannels];
  for (int c = 0; c < other.channels; ++c)
    center[c] = static_cast<float>(guide[(y * r.width + x) * other.pixel + c * other.channel]);
  float weights = 0, sums[kBilateralChannels] = {};
  for (int i = 0; i < r.count; ++i) {
    const BilateralTap tap = taps[i];
    const int64_t row = Rule::bordered(y + tap.down, r.height, r.border);
    const int64_t column = Rule::bordered(x + tap.right, r.width, r.border);
    const bool inside = row >= 0 && column >= 0;
    const int64_t at = inside ? row * r.width + column : 0;
    float differs = 0;
    for (int c = 0; c < other.channels; ++c) {
      const float v = inside ? static_cast<float>(guide[at * other.pixel + c * other.channel]) : 0.0f;
      differs = differs + abs(v - center[c]);
    }
    const float weight = falling_power(fma(differs * differs, r.color, tap.exponent));
    weights = weights + weight;
    for (int c = 0; c < image.channels; ++c) {
      const float v = inside ? static_cast<float>(in[at * image.pixel + c * image.channel]) : 0.0f;
      sums[c] = fma(weight, v, sums[c]);
    }
  }
  for (int c = 0; c < image.channels; ++c) results[c] = sums[c] / weights;
}

// Units of work are pixels.
template <class T, class Rule> PENSTOCK_KERNEL void bilateral(const Entry<BilateralRow>& e) {
  const BilateralRow& r = e.row;
  const BilateralTap* const taps = e.at(r.taps);
  const int64_t plane = r.height * r.width;
  const T* const in = static_cast<const T*>(r.image.data);
  const T* const guide = static_cast<const T*>(r.joint ? r.guide.data : r.image.data);
  T* const out = static_cast<T*>(r.out);
  for (int64_t i = e.begin + thread(); i < e.end; i += threads()) {
    const int64_t image = i / plane, at = i - image * plane, y = at / r.width, x = at - y * r.width;
    const int64_t first = image * plane * r.image.channels;
    const int64_t other = r.joint ? image * plane * r.guide.channels : first;
    float results[kBilateralChannels];
    bilateral_pixel<T, Rule>(r, taps, in + first, guide + other, y, x, results);
    for (int c = 0; c < r.image.channels; ++c)
      out[first + at * r.image.pixel + c * r.image.channel] = stored<T>(results[c]);
  }
}

}  // namespace penstock::window
