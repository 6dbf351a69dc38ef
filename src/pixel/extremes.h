// SPDX-License-Identifier: Apache-2.0
// The least and the greatest value of a type: infinities where it has them.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "pixel/host_device.h"

namespace penstock {

template <class T> PENSTOCK_HD inline T greatest_value() {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(uint32_t{0x7f800000});
  else if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(uint64_t{0x7ff0000000000000});
  else return std::numeric_limits<T>::max();
}
template <class T> PENSTOCK_HD inline T least_value() {
  if constexpr (std::is_floating_point_v<T>) return -greatest_value<T>();
  else return std::numeric_limits<T>::lowest();
}

}  // namespace penstock
