// SPDX-License-Identifier: Apache-2.0
// The family's kernel: neighboring threads make neighboring pixels, each all channels of one. It gives what the twin
// gives.
#pragma once
#include "families/gather/kernels/twin.h"
#include "launch/entry.h"

namespace penstock::gather {

// `images` of the output follow each other, and those of the source.
template <class Coef> struct Row {
  const void* in;
  void* out;
  Source source;
  int32_t height, width;  // of the output
  Coef coef;
};
static_assert(sizeof(Row<int64_t>) == 56);

constexpr int kTogether = 4;  // pixels that a thread has in flight

struct Place {
  int32_t image, y, x;
};
// The place of pixel i; the place `by` pixels after another one.
PENSTOCK_KERNEL Place place_of(int64_t i, int32_t height, int32_t width) {
  const int64_t line = i >> 32 ? i / width : static_cast<uint32_t>(i) / static_cast<uint32_t>(width);
  const int64_t image = line >> 32 ? line / height : static_cast<uint32_t>(line) / static_cast<uint32_t>(height);
  return {static_cast<int32_t>(image), static_cast<int32_t>(line - image * height),
          static_cast<int32_t>(i - line * width)};
}
PENSTOCK_KERNEL Place after(Place p, int32_t by, int32_t height, int32_t width) {
  p.x += by;
  while (p.x >= width) {
    p.x -= width;
    if (++p.y == height) p.y = 0, ++p.image;
  }
  return p;
}

// Whether a cell is inside: its first neighbor and `taps` of them on both axes.
template <Filter filter> PENSTOCK_KERNEL bool inside(const Source& s, int32_t y, int32_t x) {
  constexpr int kTaps = filter == kCubic ? 4 : 2;
  return y >= 0 && x >= 0 && y <= s.height - kTaps && x <= s.width - kTaps;
}

// ---- Bytes: the neighbors of a row are read by words.

// n bytes from any address, by the aligned words that hold one of them.
template <int n> struct Bytes {
  static constexpr int kWords = (n + 3) / 4;
  uint32_t word[kWords];

  PENSTOCK_HD explicit Bytes(const uint8_t* p) {
    const auto low = static_cast<int>(reinterpret_cast<uint64_t>(p) & 3);
    const auto* from = reinterpret_cast<const uint32_t*>(p - low);
    uint32_t all[kWords + 1];
    PENSTOCK_UNROLL
    for (int k = 0; k <= kWords; ++k) all[k] = 4 * k < low + n ? from[k] : 0;
    PENSTOCK_UNROLL
    for (int k = 0; k < kWords; ++k)
      word[k] = static_cast<uint32_t>((static_cast<uint64_t>(all[k + 1]) << 32 | all[k]) >> (8 * low));
  }
  PENSTOCK_HD float operator[](int i) const {
    return static_cast<float>(static_cast<uint8_t>(word[i / 4] >> (8 * (i % 4))));
  }
};
// Rounds a number, which is none of NaN, to a byte: half to even.
PENSTOCK_KERNEL uint8_t byte_of(float v) {
  v = v < 255.0f ? v : 255.0f;
  v = v > 0.0f ? v : 0.0f;
  return static_cast<uint8_t>(std::bit_cast<uint32_t>(v + 8388608.0f));
}

// A cell that is inside, at its first neighbor; rows are `stride` bytes apart.
template <int channels>
PENSTOCK_KERNEL void blend_bytes(const uint8_t* at, int64_t stride, float wy, float wx, uint8_t (&to)[channels]) {
  const Bytes<2 * channels> top(at), bottom(at + stride);
  PENSTOCK_UNROLL
  for (int c = 0; c < channels; ++c)
    to[c] = byte_of(blended(blended(top[c], top[c + channels], wx), blended(bottom[c], bottom[c + channels], wx), wy));
}
template <int channels>
PENSTOCK_KERNEL void blend_bytes(const uint8_t* at, int64_t stride, const CubicWeights<float>& wy,
                                 const CubicWeights<float>& wx, uint8_t (&to)[channels]) {
  float rows[channels][4];
  PENSTOCK_UNROLL
  for (int r = 0; r < 4; ++r) {
    const Bytes<4 * channels> row(at + r * stride);
    PENSTOCK_UNROLL
    for (int c = 0; c < channels; ++c) {
      const float v[4] = {row[c], row[c + channels], row[c + 2 * channels], row[c + 3 * channels]};
      rows[c][r] = weighted(v, wx);
    }
  }
  PENSTOCK_UNROLL
  for (int c = 0; c < channels; ++c) to[c] = byte_of(weighted(rows[c], wy));
}

// ---- Any pixel.

template <class T, Filter filter, class V>
PENSTOCK_KERNEL __attribute__((noinline)) void sample_as_twin(const T* image, const Source& s, Neighbor<V> y,
                                                              Neighbor<V> x, T* to) {
  Source one = s;
  one.filter = filter;
  for (int32_t c = 0; c < one.channels; ++c) to[c] = sampled(image, one, y, x, c);
}
// A pixel of `channels`, or of as many as the source has if that is 0.

template <class T, int channels, Filter filter, class V>
PENSTOCK_KERNEL void sample_pixel(const T* image, const Source& s, Neighbor<V> y, Neighbor<V> x, T* to) {
  if constexpr (std::is_same_v<T, uint8_t> && channels != 0 && filter != kNearest) {
    constexpr int kBefore = filter == kCubic;
    if (inside<filter>(s, y.at - kBefore, x.at - kBefore)) {
      const int64_t stride = int64_t{s.width} * channels;
      const uint8_t* at = image + (y.at - kBefore) * stride + (x.at - kBefore) * channels;
      uint8_t pixel[channels];
      if constexpr (filter == kLinear) blend_bytes<channels>(at, stride, y.weight, x.weight, pixel);
      else blend_bytes<channels>(at, stride, cubic_weights(y.weight), cubic_weights(x.weight), pixel);
      PENSTOCK_UNROLL
      for (int c = 0; c < channels; ++c) to[c] = pixel[c];
      return;
    }
  }
  sample_as_twin<T, filter>(image, s, y, x, to);
}

// Units of work are pixels.
template <class T, int channels, int filter, class Rule>
PENSTOCK_KERNEL void sample_pixels(const whole::Entry<Row<typename Rule::Coef>>& e) {
  using V = PositionNumber<T, filter>;
  const Source& source = e.row.source;
  const int32_t height = e.row.height, width = e.row.width;
  const int64_t pixel = channels ? channels : source.channels;
  const int64_t of_image = int64_t{source.height} * source.width * pixel;
  const T* in = static_cast<const T*>(e.row.in);
  T* out = static_cast<T*>(e.row.out);
  const int64_t step = whole::threads();
  for (int64_t i = e.begin + whole::thread(); i < e.end; i += kTogether * step) {
    Neighbor<V> y[kTogether], x[kTogether];
    int32_t image[kTogether];
    Place p = place_of(i, height, width);
    PENSTOCK_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      image[k] = p.image;
      neighbors<Rule>(p.image, p.y, p.x, e.row.coef, y[k], x[k]);
      if (i + (k + 1) * step < e.end) p = after(p, static_cast<int32_t>(step), height, width);
    }
    PENSTOCK_UNROLL
    for (int k = 0; k < kTogether; ++k)
      if (i + k * step < e.end)
        sample_pixel<T, channels, static_cast<Filter>(filter)>(in + image[k] * of_image, source, y[k], x[k],
                                                               out + (i + k * step) * pixel);
  }
}

}  // namespace penstock::gather
