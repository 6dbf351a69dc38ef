// SPDX-License-Identifier: Apache-2.0
// One output of an affine resampling: where it reads, and the blend of its neighbors. Axes go x, y, z; rows of the
// matrix m give the source's x, y, z in dims + 1 columns, pixel centers are at integers + 0.5. A row of outputs goes in
// runs: where a run begins is found in float64, its positions follow in steps, both rounded to 2^-32.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "pixel/math.h"

namespace penstock {

constexpr int kAffineRun = 64;

constexpr double kAffineReach = 1073741824.0;

// Fixed point of 32 fractional bits. NaN and what is far out are cut to a place outside of every source.
PENSTOCK_INLINE int64_t affine_fixed(double v, double limit) {
  if (limit > 0) v = v > -limit ? v : -limit, v = v < limit ? v : limit;  // 0: it is known to be near
  return PENSTOCK_EXACT(__double2ll_rn(v * 4294967296.0), static_cast<int64_t>(round_even(v * 4294967296.0)));
}
PENSTOCK_INLINE int64_t affine_step(double scale) { return affine_fixed(scale, 16777216.0); }
// Axis a's position at the beginning of output x's run. `shift` is 0.5 where neighbors are blended, else 0.
template <class I>
PENSTOCK_INLINE int64_t affine_begin(const double* m, int dims, int a, I x, I y, I z, double shift,
                                     double limit = kAffineReach) {
  const double* row = m + a * (dims + 1);
  double base = row[1] * (static_cast<double>(y) + 0.5);
  if (dims == 3) base += row[2] * (static_cast<double>(z) + 0.5);
  base += row[dims];
  return affine_fixed(row[0] * (static_cast<double>(x / kAffineRun * kAffineRun) + 0.5) + base - shift, limit);
}
// Of a position: the lower neighbor, and the weight of the upper one, 23 bits in a float32.
PENSTOCK_INLINE int32_t affine_at(int64_t position) { return static_cast<int32_t>(position >> 32); }
template <class V> PENSTOCK_INLINE V affine_weight(int64_t position) {
  const auto fraction = static_cast<uint32_t>(position);
  if constexpr (std::is_same_v<V, float>) return std::bit_cast<float>((fraction >> 9) + 0x3F800000u) - 1.0f;
  else return static_cast<V>(fraction) * (1.0 / 4294967296.0);
}

template <class V> PENSTOCK_INLINE V lerp(V a, V b, V weight) { return fma(b - a, weight, a); }

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
template <int dims> struct AffinePoint { int64_t axis[dims]; };
template <int dims>
PENSTOCK_HD inline AffinePoint<dims> affine_point(const double* m, int64_t x, int64_t y, int64_t z, bool nearest) {
  AffinePoint<dims> p;
  for (int a = 0; a < dims; ++a)
    p.axis[a] =
        affine_begin(m, dims, a, x, y, z, nearest ? 0.0 : 0.5) + x % kAffineRun * affine_step(m[a * (dims + 1)]);
  return p;
}

// A source of one channel: load(offset in elements) gives a V. Outside of it is `fill` or, without border_fill, the
// edge.
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
      const int64_t v = affine_at(p.axis[a]) + (corner >> a & 1), c = clamp<int64_t>(v, 0, extent[a] - 1);
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
                     affine_weight<V>(p.axis[axis]));
  }
};

}  // namespace penstock
