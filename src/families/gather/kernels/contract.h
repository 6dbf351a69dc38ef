// SPDX-License-Identifier: Apache-2.0
// The family gather: an operator says where each output reads, the family samples there. An operator gives
//
//     struct Rule {
//       PENSTOCK_PIXEL(
//       struct Coef { ... };
//       template <class V>
//       PENSTOCK_HD static gather::Position<V> at(int32_t image, int32_t y, int32_t x, const Coef&) { ... })
//     };
//
// and calls gather::sample<Rule>(in, out, coef, sampling, to) in work() (gather.h). V is float or double. at() has no
// branches that differ between neighbors, calls nothing but what src/pixel offers, and reads `image` only to find data
// of its own; so a loop over x becomes vectors. An image is one of the frames (or of the depths) of a sample. A rule
// may offer the parts of at(), for a host that makes them for many outputs at once (kDraws, kHasColumns in rows.h).
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "pixel/convert.h"
#include "pixel/math.h"
#include "pixel/philox.h"

namespace penstock::gather {

// Where an output reads: x + rest_x, y + rest_y; (0, 0) is the center of the first pixel. The second numbers keep what
// a float cannot: far from 0, a position in one float would move by a part of a pixel. They are small.
template <class V> struct Position {
  V x, y, rest_x, rest_y;
};
// A rule may also give the nearest pixel itself, `Pixel pixel(image, y, x, coef)`: then it alone counts for kNearest.
// A pixel is often known with fewer operations than a position.
struct Pixel {
  int32_t x, y;
};
template <class Rule> constexpr bool kGivesPixels = requires { &Rule::pixel; };
template <class V> PENSTOCK_INLINE Position<V> at_pixel(Pixel p) {  // its parts are floats without an error
  return {static_cast<V>(p.x & ~255), static_cast<V>(p.y & ~255), static_cast<V>(p.x & 255), static_cast<V>(p.y & 255)};
}

// A number that a rule or the family reads, and that no kernel writes meanwhile.
template <class T> PENSTOCK_INLINE T read_only(const T* p) { return PENSTOCK_EXACT(__ldg(p), *p); }

enum Filter : int32_t { kNearest, kLinear, kCubic };  // the public numbers of filters
enum Border : int32_t { kConstant, kReplicate, kReflect101, kReflect, kWrap };
struct Source {
  int32_t height, width, channels;  // neither of the first two is 0, unless the border is constant
  Filter filter;
  Border border;
  float fill;  // the value of a constant border, not rounded
};
static_assert(sizeof(Source) == 24);

// What is blended: float32 holds these types exactly, with bits to spare; the others need float64.
template <class T> struct NumberOf {
  using type = double;
};
template <> struct NumberOf<bool> {
  using type = float;
};
template <> struct NumberOf<int8_t> {
  using type = float;
};
template <> struct NumberOf<uint8_t> {
  using type = float;
};
template <> struct NumberOf<Half> {
  using type = float;
};
template <> struct NumberOf<float> {
  using type = float;
};
template <class T> using Number = typename NumberOf<T>::type;
// What positions are found in: those of the nearest pixel are exact enough in float32.
template <class T, int filter> struct PositionNumberOf {
  using type = Number<T>;
};
template <class T> struct PositionNumberOf<T, kNearest> {
  using type = float;
};
template <class T, int filter> using PositionNumber = typename PositionNumberOf<T, filter>::type;

// A number that one float cannot hold: the value, and what its rounding lost. Sums and products of two are exact.
template <class V> struct Sum {
  V value, rest;
};
PENSTOCK_INLINE Sum<float> sum_of(float a, float b) {
  const float value = a + b, part = value - a;
  return {value, (a - (value - part)) + (b - part)};
}
// floor(value + rest) for a rest below 1/2, in numbers below 2^24.
PENSTOCK_INLINE int32_t whole_part(Sum<float> v) {
  const float low = floor(v.value);
  return static_cast<int32_t>(low + floor((v.value - low) + v.rest));
}
// The position of an output that is moved by a displacement.
PENSTOCK_INLINE Position<float> displaced(float x, float y, float dx, float dy) {
  const Sum<float> px = sum_of(x, dx), py = sum_of(y, dy);
  return {px.value, py.value, px.rest, py.rest};
}
PENSTOCK_INLINE Position<double> displaced(double x, double y, double dx, double dy) { return {x + dx, y + dy, 0, 0}; }
PENSTOCK_INLINE Sum<float> product_of(float a, float b) {
  const float value = a * b;
  return {value, fma(a, b, -value)};
}
// (v + 1) * half, for positions in maps from -1 to 1.
PENSTOCK_INLINE Sum<float> from_unit_range(float v, float half) {
  const float product = v * half, lost = fma(v, half, -product), sum = product + half, added = sum - product;
  return {sum, (product - (sum - added)) + (half - added) + lost};
}
PENSTOCK_INLINE Sum<double> from_unit_range(double v, double half) { return {(v + 1) * half, 0}; }

// The lower neighbor on an axis, and the weight of the upper one.
template <class V> struct Neighbor {
  int32_t at;
  V weight;
};
// Where there can be no number: outside.
constexpr int32_t kReach = 1000000000;
PENSTOCK_INLINE Neighbor<float> neighbor(float v, float rest) {
  rest = abs(v) < static_cast<float>(kReach) ? rest : 0.0f;  // else it may be no number
  v = v > static_cast<float>(-kReach) ? v : static_cast<float>(-kReach);
  v = v < static_cast<float>(kReach) ? v : static_cast<float>(kReach);
  // Exact, unless v is a little below 0.
  const float low = floor(v), part = (v - low) + rest, carry = floor(part);
  return {static_cast<int32_t>(low) + static_cast<int32_t>(carry), part - carry};
}
PENSTOCK_INLINE Neighbor<double> neighbor(double v, double rest) {
  v += rest;
  v = v > -kReach ? v : -kReach;
  v = v < kReach ? v : kReach;
  const double low = floor(v);
  return {static_cast<int32_t>(low), v - low};
}
// Kernels take positions to be near 0 in images of so many pixels (cell.h).
constexpr int32_t kNear = 4194304 - 64;
// Where an output reads.
template <class Rule, class V, int filter>
PENSTOCK_INLINE Position<V> position(int32_t image, int32_t y, int32_t x, const typename Rule::Coef& c) {
  if constexpr (filter == kNearest && kGivesPixels<Rule>) return at_pixel<V>(Rule::pixel(image, y, x, c));
  else return Rule::template at<V>(image, y, x, c);
}
template <class V> PENSTOCK_INLINE int32_t nearest(const Neighbor<V>& n) { return n.at + (n.weight >= V(0.5)); }

PENSTOCK_INLINE float blended(float a, float b, float weight) { return fma(b - a, weight, a); }
PENSTOCK_INLINE double blended(double a, double b, double weight) { return a + (b - a) * weight; }

// Catmull and Rom's family with a = -0.75, as OpenCV's: the weights of four neighbors, the second one being the lower.
template <class V> struct CubicWeights {
  V of[4];
};
PENSTOCK_INLINE CubicWeights<float> cubic_weights(float f) {
  const float g = 1.0f - f;
  return {{f * g * g * -0.75f, fma(fma(f, 1.25f, -2.25f), f * f, 1.0f), fma(fma(g, 1.25f, -2.25f), g * g, 1.0f),
           g * f * f * -0.75f}};
}
PENSTOCK_INLINE double cubic_weight(double t) {
  const double d = abs(t);
  return d < 1 ? (1.25 * d - 2.25) * d * d + 1 : d < 2 ? ((-0.75 * d + 3.75) * d - 6) * d + 3 : 0.0;
}
PENSTOCK_INLINE CubicWeights<double> cubic_weights(double f) {
  return {{cubic_weight(f + 1), cubic_weight(f), cubic_weight(f - 1), cubic_weight(f - 2)}};
}
PENSTOCK_INLINE float weighted(const float* v, const CubicWeights<float>& w) {
  return fma(v[3], w.of[3], fma(v[2], w.of[2], fma(v[1], w.of[1], v[0] * w.of[0])));
}
PENSTOCK_INLINE double weighted(const double* v, const CubicWeights<double>& w) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += v[i] * w.of[i];
  return sum;
}

// The element of n that stands for one outside, at `at`; -1: the constant of the border.
PENSTOCK_HD __attribute__((noinline)) inline int32_t beyond(int32_t at, int32_t n, Border border) {
  if (border == kConstant) return -1;
  if (border == kReplicate) return at < 0 ? 0 : n - 1;
  const int64_t period = border == kWrap ? n : border == kReflect ? int64_t{2} * n : n > 1 ? int64_t{2} * n - 2 : 1;
  int64_t r = at % period;
  r = r < 0 ? r + period : r;
  if (r >= n) r = border == kReflect101 ? period - r : period - 1 - r;
  return static_cast<int32_t>(r);
}
PENSTOCK_INLINE int32_t bordered(int32_t at, int32_t n, Border border) {
  return static_cast<uint32_t>(at) < static_cast<uint32_t>(n) ? at : beyond(at, n, border);
}

}  // namespace penstock::gather
