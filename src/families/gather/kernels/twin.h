// SPDX-License-Identifier: Apache-2.0
// The family's sampler for one element, as it is defined: the loops and the kernel give the same. They also use it
// where the border takes part, and for what they have no form of their own.
#pragma once
#include "families/gather/kernels/contract.h"

namespace penstock::gather {

template <class V, class T>
PENSTOCK_INLINE V tap(const T* image, const Source& s, int32_t y, int32_t x, int32_t channel) {
  const int32_t v = bordered(y, s.height, s.border), u = bordered(x, s.width, s.border);
  if (v < 0 || u < 0) return static_cast<V>(s.fill);
  return to_lane<T, V>(image[(int64_t{v} * s.width + u) * s.channels + channel]);
}

// A blend with a constant that is infinite or NaN makes NaN of it where it has no share, and of two of them. Such a
// constant is the result wherever it has a share, and is not read elsewhere.
PENSTOCK_INLINE bool covers(const Source& s) { return s.border == kConstant && !(s.fill - s.fill == 0); }
// Whether a blend has a share of what is beyond the n elements of an axis.
template <class V> PENSTOCK_INLINE bool reads_beyond(Neighbor<V> p, int32_t n, Filter filter) {
  const int32_t before = filter == kCubic && p.weight != 0, after = p.weight == 0 ? 0 : filter == kCubic ? 2 : 1;
  return p.at < before || p.at + after >= n;
}

// One element of an output; `image` is the source's, with all its channels.
template <class T, class V>
PENSTOCK_INLINE T sampled(const T* image, const Source& source, Neighbor<V> y, Neighbor<V> x, int32_t channel) {
  if (source.filter == kNearest) {
    const Source& s = source;
    const int32_t v = bordered(nearest(y), s.height, s.border), u = bordered(nearest(x), s.width, s.border);
    if (v < 0 || u < 0) return from_lane<float, T>(s.fill);
    return image[(int64_t{v} * s.width + u) * s.channels + channel];
  }
  Source s = source;
  if (covers(s)) {
    if (reads_beyond(y, s.height, s.filter) || reads_beyond(x, s.width, s.filter)) return from_lane<float, T>(s.fill);
    s.fill = 0;
  }
  if (s.filter == kLinear) {
    V row[2];
    for (int j = 0; j < 2; ++j)
      row[j] =
          blended(tap<V>(image, s, y.at + j, x.at, channel), tap<V>(image, s, y.at + j, x.at + 1, channel), x.weight);
    return from_lane<V, T>(blended(row[0], row[1], y.weight));
  }
  const CubicWeights<V> wx = cubic_weights(x.weight), wy = cubic_weights(y.weight);
  V row[4];
  for (int j = 0; j < 4; ++j) {
    V v[4];
    for (int i = 0; i < 4; ++i) v[i] = tap<V>(image, s, y.at - 1 + j, x.at - 1 + i, channel);
    row[j] = weighted(v, wx);
  }
  return from_lane<V, T>(weighted(row, wy));
}

// Where an output reads, in the numbers of T. The nearest pixel is found in float32 for all types.
template <class Rule, int filter, class V>
PENSTOCK_INLINE void neighbors(int32_t image, int32_t y, int32_t x, const typename Rule::Coef& c, Neighbor<V>& ny,
                               Neighbor<V>& nx) {
  const Position<V> p = position<Rule, V, filter>(image, y, x, c);
  ny = neighbor(p.y, p.rest_y), nx = neighbor(p.x, p.rest_x);
}

}  // namespace penstock::gather
