// SPDX-License-Identifier: Apache-2.0
// Conversions between a stored type T and the number type V of a tile's registers: load, store, round.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/half.h"
#include "pixel/math.h"

namespace penstock {

template <class T, class V> PENSTOCK_INLINE V to_lane(T v) {
  if constexpr (kStoresFloat<T>) return static_cast<V>(static_cast<float>(v));
  else return static_cast<V>(v);
}

// Saturates; floating point rounds half to even; NaN becomes 0.
template <class V, class T> PENSTOCK_INLINE T from_lane(V v) {
  if constexpr (std::is_same_v<T, V>) {
    return v;
  } else if constexpr (kStoresFloat<T> && std::is_same_v<V, double>) {
    // Uses a float that is rounded to odd: rounding twice then gives the same as rounding once.
    const float f = static_cast<float>(v);
    uint32_t bits = std::bit_cast<uint32_t>(f);
    if (static_cast<double>(f) != v && v == v && (bits & 0x7fffffffu) != 0x7f800000u) {
      bits -= abs(static_cast<double>(f)) > abs(v);
      bits |= 1;
    }
    return T(std::bit_cast<float>(bits));
  } else if constexpr (kStoresFloat<T>) {
    return T(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != V(0);
  } else if constexpr (std::is_floating_point_v<V>) {
    constexpr V lo = static_cast<V>(std::numeric_limits<T>::lowest());
    constexpr V hi = static_cast<V>(std::numeric_limits<T>::max());
    if constexpr (sizeof(T) <= 2 || (sizeof(T) == 4 && sizeof(V) == 8)) {
      V r = round_even(v);
      r = r >= lo ? r : lo;  // with this operand order NaN becomes lo, then 0 below
      r = r <= hi ? r : hi;
      r = v == v ? r : V(0);
      if constexpr (sizeof(T) <= 2) return static_cast<T>(static_cast<int32_t>(r));
      else return static_cast<T>(static_cast<int64_t>(r));
    } else {  // the bounds are not representable: hi rounds up to 2^k
      if (!(v == v)) return T(0);
      const V r = round_even(v);
      if (r <= lo) return std::numeric_limits<T>::lowest();
      if (r >= hi) return std::numeric_limits<T>::max();
      return static_cast<T>(r);
    }
  } else {
    if (std::cmp_less(v, std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (std::cmp_greater(v, std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(v);
  }
}

// Rounds and saturates to the values of T, but stays a V.
template <class T, class V> PENSTOCK_INLINE V round_to(V v) {
  if constexpr (std::is_same_v<T, V>) {
    return v;
  } else if constexpr (std::is_same_v<V, float> && std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                       sizeof(T) <= 2) {
    constexpr float lo = std::numeric_limits<T>::lowest(), hi = std::numeric_limits<T>::max();
    float r = round_even(v);
    r = r > lo ? r : lo;  // with this operand order NaN becomes lo, which is 0 for unsigned types
    r = r < hi ? r : hi;
    // An integer cannot be -0: the sum makes it 0.
    if constexpr (std::is_signed_v<T>) r = v == v ? r + 0.0f : 0.0f;
    return r;
  } else {
    return to_lane<T, V>(from_lane<V, T>(v));
  }
}

// From one number type to another: integers wrap, as in to_lane; floating point saturates.
template <class A, class B> PENSTOCK_INLINE B change_lane(A v) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) return static_cast<B>(v);
  else return from_lane<A, B>(v);
}

}  // namespace penstock
