// SPDX-License-Identifier: Apache-2.0
// A computed number as an element of any type: rounded half to even and saturated, NaN as 0 in integers.
#pragma once
#include <limits>

#include "batch/batch.h"
#include "pixel/math.h"

namespace penstock {

template <class T> T stored(double v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!(v == v)) return 0;
    const double r = round_even(v);
    if (r <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (r >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(r);
  } else {
    return static_cast<T>(static_cast<float>(v));
  }
}
template <> inline double stored<double>(double v) { return v; }

// Element `index` of a dense view.
inline void store_value(const View& out, int64_t index, double v) {
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    out.as<T>()[index] = stored<T>(v);
  });
}

}  // namespace penstock
