// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic in a number type V that is as wide as the integer type or wider.
#pragma once
#include <cstdint>
#include <type_traits>

#include "pixel/host_device.h"

namespace penstock {

// Integers are computed without undefined overflow and then reduced to their type.
template <class V> struct UnsignedOf {
  using type = V;
};
template <> struct UnsignedOf<int32_t> {
  using type = uint32_t;
};
// An int would overflow in a product of two uint16_t.
template <> struct UnsignedOf<int16_t> : UnsignedOf<int32_t> {};
template <> struct UnsignedOf<uint16_t> : UnsignedOf<int32_t> {};
template <> struct UnsignedOf<int8_t> : UnsignedOf<int32_t> {};
template <> struct UnsignedOf<uint8_t> : UnsignedOf<int32_t> {};
template <> struct UnsignedOf<int64_t> {
  using type = uint64_t;
};
template <class V> using Unsigned = typename UnsignedOf<V>::type;

// Coefficients of every arithmetic operator: a constant operand, and what reduces an integer to its type:
// the low bits (mask) are kept and extended by the sign bit (sign; 0 if the type is unsigned).
template <class V> struct ArithmeticCoef {
  V constant;
  Unsigned<V> mask, sign;
  int32_t constant_left;
  int32_t bits;
};
template <class V> PENSTOCK_LOOPED V wrap(Unsigned<V> v, const ArithmeticCoef<V>& c) {
  if constexpr (sizeof(V) < sizeof(v)) return static_cast<V>(v);  // V is the integer type itself
  else if constexpr (std::is_integral_v<V>) return static_cast<V>(((v & c.mask) ^ c.sign) - c.sign);
  else return v;
}

}  // namespace penstock
