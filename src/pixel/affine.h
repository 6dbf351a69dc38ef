// SPDX-License-Identifier: Apache-2.0
// One output of an affine resampling: where it reads, and the blend of its neighbors. Axes go x, y, z; rows of the
// matrix m give the source's x, y, z in dims + 1 columns, pixel centers are at integers + 0.5. A row of outputs goes in
// runs: where a run begins is found in float64, its positions follow in steps, both rounded to 2^-32. Images whose
// bytes become bytes again are blended in integers (docs/decisions/0027).
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

// Bytes to bytes: positions count to 2^-16, to the nearest of which this brings them.
constexpr int64_t kAffineByteHalf = 32768;
// The weights of the four neighbors, 65536 together: lower and upper on x of the lower row, and of the upper one. (One
// by itself is 65535, which gives the same result.)
struct AffineByteWeights {
  uint32_t a, b, c, d;
};
PENSTOCK_INLINE AffineByteWeights affine_byte_weights(uint32_t fraction_x, uint32_t fraction_y) {
  const uint32_t d = (fraction_x * fraction_y + 32768u) >> 16, b = fraction_x - d, c = fraction_y - d;
  const uint32_t a = 65536u - fraction_x - c;
  return {a > 65535u ? 65535u : a, b, c, d};
}
PENSTOCK_INLINE uint32_t affine_byte_fraction(int64_t position) { return static_cast<uint32_t>(position) >> 16; }
PENSTOCK_INLINE uint32_t affine_byte(const AffineByteWeights& w, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return (w.a * a + w.b * b + w.c * c + w.d * d + 32768u) >> 16;
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
template <int dims> struct AffinePoint {
  int64_t axis[dims];
};
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
  // Of bytes that become bytes again; two axes.
  PENSTOCK_HD V linear_bytes(AffinePoint<dims> p) const {
    static_assert(dims == 2);
    for (int64_t& position : p.axis) position += kAffineByteHalf;
    const AffineByteWeights w = affine_byte_weights(affine_byte_fraction(p.axis[0]), affine_byte_fraction(p.axis[1]));
    auto byte = [&](int corner) { return static_cast<uint32_t>(tap(p, corner)); };
    return static_cast<V>(affine_byte(w, byte(0), byte(1), byte(2), byte(3)));
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
