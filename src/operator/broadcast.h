// SPDX-License-Identifier: Apache-2.0
// Writes values into a part of an array, as NumPy does: the values are converted to the type of the array and broadcast
// to its shape.
#pragma once
#include <algorithm>
#include <vector>

#include "operator/stored.h"

namespace penstock {

// The view with the shape `to`: dimensions of one element are repeated, and leading dimensions are added.
inline View broadcast(View v, const Shape& to) {
  const int more = to.size() - v.shape.size();
  Shape strides;
  for (int d = 0; d < -more; ++d)
    if (v.shape[d] != 1) bad_argument("a value of shape {} does not fit a part of shape {}", v.shape.text(), to.text());
  for (int d = 0; d < to.size(); ++d) {
    const int of = d - more;
    if (of < 0) {
      strides.push_back(0);
      continue;
    }
    if (v.shape[of] != to[d] && v.shape[of] != 1)
      bad_argument("a value of shape {} does not fit a part of shape {}", v.shape.text(), to.text());
    strides.push_back(v.shape[of] == 1 && to[d] != 1 ? 0 : v.strides[of]);
  }
  v.shape = to, v.strides = strides;
  return v;
}

// Dense values of another type: rounded half to even and saturated.
inline std::vector<std::byte> converted(const View& from, DType to) {
  std::vector<std::byte> bytes(static_cast<size_t>(from.volume()) * size_of(to));
  View out{bytes.data(), to, {}, from.shape, dense_strides(from.shape)};
  const bool whole = (from.dtype == DType::bool_ || is_integer(from.dtype)) && is_integer(to);
  for (int64_t i = 0; i < from.volume(); ++i) {
    if (!whole) {
      store_value(out, i, element_as_double(from, i));
      continue;
    }
    const int64_t v = element_as_int(from, i);
    const bool huge = from.dtype == DType::uint64 && v < 0;  // above int64
    dispatch(to, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if (huge)
          out.as<T>()[i] = sizeof(T) == 8 && !std::is_signed_v<T> ? static_cast<T>(v) : std::numeric_limits<T>::max();
        else if (std::is_same_v<T, uint64_t>) out.as<T>()[i] = static_cast<T>(std::max<int64_t>(v, 0));
        else
          out.as<T>()[i] = static_cast<T>(std::clamp<int64_t>(v, static_cast<int64_t>(std::numeric_limits<T>::lowest()),
                                                              static_cast<int64_t>(std::numeric_limits<T>::max())));
      }
    });
  }
  return bytes;
}

inline void assign(const View& value, const View& to) {
  if (value.dtype == to.dtype) {
    copy_strided(broadcast(value, to.shape), to);
    return;
  }
  auto bytes = converted(value, to.dtype);
  copy_strided(broadcast({bytes.data(), to.dtype, {}, value.shape, dense_strides(value.shape)}, to.shape), to);
}

}  // namespace penstock
