// SPDX-License-Identifier: Apache-2.0
// Converts a computed number to an element of any type: rounds half to even and saturates; NaN becomes 0 in integers.
#pragma once
#include <limits>
#include <type_traits>

#include "pixel/convert.h"

namespace penstock {

// The number type that holds every element of T: float64 only where float32 does not.
template <class T, bool wide = std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) > 2)> struct NumberFor {
  using type = float;
};
template <class T> struct NumberFor<T, true> {
  using type = double;
};
template <class T> using NumberOf = typename NumberFor<T>::type;

template <class T> PENSTOCK_HD inline T stored(float v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else return from_lane<float, T>(v);
}
template <class T> PENSTOCK_HD inline T stored(double v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!(v == v)) return 0;
    const double r = round_even(v);
    if (r <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (r >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(r);
  } else if constexpr (std::is_same_v<T, double>) {
    return v;
  } else {
    return from_lane<double, T>(v);
  }
}

}  // namespace penstock
