// SPDX-License-Identifier: Apache-2.0
// Where a perspective map reads.
#pragma once
#include "families/gather/gather.h"
#include "ops/shared/sampling.h"

namespace penstock {

struct PerspectiveRule {
  PENSTOCK_PIXEL(
      struct Coef {
        double m[9];
        float high[9];  // m times a power of two is the sum of two floats
        float low[9];
        float shift;
      };
      // A number and what its rounding left.
      using Pair = gather::Sum<float>;
      template <class V> PENSTOCK_HD static V product(const V* m, V x, V y) { return m[0] * x + m[1] * y + m[2]; }
      PENSTOCK_INLINE static Pair product(const float* high, const float* low, float x, float y) {
        const Pair by_x = gather::product_of(high[0], x);
        const Pair by_y = gather::product_of(high[1], y);
        const Pair row = gather::sum_of(by_y.value, high[2]);
        const Pair all = gather::sum_of(by_x.value, row.value);
        return {all.value, all.rest + (fma(low[0], x, by_x.rest) + (row.rest + by_y.rest + fma(low[1], y, low[2])))};
      }
      // The quotient by w, whose inverse is about `inverse`.
      PENSTOCK_INLINE static Pair quotient(Pair v, Pair w, float inverse) {
        const float value = v.value * inverse;
        return {value, (fma(-value, w.value, v.value) + fma(-value, w.rest, v.rest)) * inverse};
      }
      // Where output (x, y) reads.
      template <class V> PENSTOCK_INLINE static auto at(int32_t, int32_t y, int32_t x, const Coef& c) {
        const V shift = c.shift;
        const V px = static_cast<V>(x) + shift;
        const V py = static_cast<V>(y) + shift;
        if constexpr (sizeof(V) == sizeof(double)) {
          const V w = product(c.m + 6, px, py);
          const V scale = w == 0 ? 0 : 1 / w;
          return gather::Position<V>{product(c.m, px, py) * scale, product(c.m + 3, px, py) * scale, -shift, -shift};
        } else {
          const Pair sum = product(c.high + 6, c.low + 6, px, py);
          const V value = sum.value + sum.rest;
          const Pair w{value, sum.rest - (value - sum.value)};
          const V inverse = w.value == 0 ? 0 : 1 / w.value;
          const Pair to_x = quotient(product(c.high, c.low, px, py), w, inverse);
          const Pair to_y = quotient(product(c.high + 3, c.low + 3, px, py), w, inverse);
          return gather::Position<V>{to_x.value, to_y.value, to_x.rest - shift, to_y.rest - shift};
        }
      });

  static Coef coef(const double* m, double shift) {
    Coef c{};
    c.shift = static_cast<float>(shift);
    double largest = 0;
    for (int i = 0; i < 9; ++i) largest = std::max(largest, std::fabs(m[i]));
    // A power of two changes no quotient, and floats hold what it leaves.
    const double factor = std::ldexp(1.0, largest > 0 ? std::clamp(-std::ilogb(largest), -1000, 1000) : 0);
    double scaled[9];
    for (int i = 0; i < 9; ++i) c.m[i] = m[i], scaled[i] = m[i] * factor;
    for (int i = 0; i < 9; ++i) c.high[i] = static_cast<float>(scaled[i]);
    for (int i = 0; i < 9; ++i) c.low[i] = static_cast<float>(scaled[i] - static_cast<double>(c.high[i]));
    return c;
  }
};

// Fills that differ between channels, which the family does not have: element by element, in float64.
struct FilledPerspectiveRule : SamplingRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        Source source;
        double m[9];
        double shift;
        int64_t channels;  // fills of the table, one for each
        int channels_first;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char* table) {
        const double x = static_cast<double>(p.x) + c.shift;
        const double y = static_cast<double>(p.y) + c.shift;
        const double w = c.m[6] * x + c.m[7] * y + c.m[8];
        const double scale = w == 0 ? 0.0 : 1 / w;
        Source s = c.source;
        s.fill = reinterpret_cast<const float*>(table)[c.channels_first ? p.outer % c.channels : p.inner];
        return stored<Out>(sampled(in, s, p, (c.m[3] * x + c.m[4] * y + c.m[5]) * scale - c.shift,
                                   (c.m[0] * x + c.m[1] * y + c.m[2]) * scale - c.shift));
      });
};

}  // namespace penstock
