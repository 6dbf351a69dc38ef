// SPDX-License-Identifier: Apache-2.0
// One output of an affine resampling: where it reads, and the blend of its neighbors. Axes go x, y, z; rows of the
// matrix m give the source's x, y, z in dims + 1 columns, pixel centers are at integers + 0.5, positions are float64.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "pixel/math.h"

namespace penstock {

// The part of axis a's position that a row of outputs shares.
PENSTOCK_INLINE double affine_base(const double* m, int dims, int a, int64_t y, int64_t z) {
  const double* row = m + a * (dims + 1);
  double base = row[1] * (static_cast<double>(y) + 0.5);
  if (dims == 3) base += row[2] * (static_cast<double>(z) + 0.5);
  return base + row[dims];
}

// The lower neighbor on an axis and the weight of the upper one. Positions are cut to a little outside of the source,
// where all taps are outside anyway; NaN goes there too. `shift` is 0.5 where neighbors are blended, else 0.
struct AffineNeighbor {
  int32_t at;
  double weight;
};
PENSTOCK_INLINE AffineNeighbor affine_neighbor(double scale, double x, double base, double shift, int64_t extent) {
  const double high = static_cast<double>(extent) + 1;
  double v = scale * x + base - shift;
  v = v > -2.0 ? v : -2.0;
  v = v < high ? v : high;
  const double low = floor(v);
  return {static_cast<int32_t>(low), v - low};
}

template <class V> PENSTOCK_INLINE V lerp(V a, V b, V weight) { return a + (b - a) * weight; }

// The fill in the lane; integers saturate.
template <class V> PENSTOCK_HD inline V fill_in_lane(float fill) {
  if constexpr (std::is_integral_v<V>) {
    const double v = fill;
    if (v <= static_cast<double>(std::numeric_limits<V>::lowest())) return std::numeric_limits<V>::lowest();
    if (v >= static_cast<double>(std::numeric_limits<V>::max())) return std::numeric_limits<V>::max();
    return static_cast<V>(v);
  } else {
    return static_cast<V>(fill);
  }
}

// The rest is one element at a time, for kernels; the CPU's loops over blocks do the same in the same order.
template <int dims> struct AffinePoint { AffineNeighbor axis[dims]; };
template <int dims>
PENSTOCK_HD inline AffinePoint<dims> affine_point(const double* m, const int64_t* extent, int64_t x, int64_t y,
                                                  int64_t z, bool nearest) {
  AffinePoint<dims> p;
  for (int a = 0; a < dims; ++a)
    p.axis[a] = affine_neighbor(m[a * (dims + 1)], static_cast<double>(x) + 0.5, affine_base(m, dims, a, y, z),
                                nearest ? 0.0 : 0.5, extent[a]);
  return p;
}

// A source of one channel: load(offset in elements) gives a V. Outside of it is `fill` or, without border_fill, the edge.
template <int dims, class V, class Load> struct AffineChannel {
  const int64_t *extent, *stride;  // x, y, z
  bool border_fill;
  V fill;
  Load load;

  // Bit a of `corner`: the upper neighbor on axis a. The nearest sample is corner 0.
  PENSTOCK_HD V tap(const AffinePoint<dims>& p, int corner) const {
    int64_t offset = 0;
    bool outside = false;
    for (int a = 0; a < dims; ++a) {
      const int64_t v = p.axis[a].at + (corner >> a & 1), c = clamp<int64_t>(v, 0, extent[a] - 1);
      outside |= c != v;
      offset += c * stride[a];
    }
    return outside && border_fill ? fill : load(offset);
  }
  // V is float or double.
  PENSTOCK_HD V linear(const AffinePoint<dims>& p) const { return blend<dims - 1>(p, 0); }

 private:
  template <int axis> PENSTOCK_HD V blend(const AffinePoint<dims>& p, int corner) const {
    if constexpr (axis < 0) return tap(p, corner);
    else
      return lerp<V>(blend<axis - 1>(p, corner), blend<axis - 1>(p, corner | 1 << axis),
                     static_cast<V>(p.axis[axis].weight));
  }
};

}  // namespace penstock
