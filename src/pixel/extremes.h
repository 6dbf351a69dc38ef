// SPDX-License-Identifier: Apache-2.0
// The least and the greatest value of a type, infinities where it has them, and of two numbers.
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

// Of both 16-bit halves of words.
#ifdef __CUDA_ARCH__
PENSTOCK_HD inline uint32_t lesser_pairs(uint32_t a, uint32_t b) { return __vminu2(a, b); }
PENSTOCK_HD inline uint32_t greater_pairs(uint32_t a, uint32_t b) { return __vmaxu2(a, b); }
#else
PENSTOCK_HD inline uint32_t lesser_pairs(uint32_t a, uint32_t b) {
  const uint32_t high = (a >> 16 < b >> 16 ? a : b) & 0xFFFF0000u, x = a & 0xFFFF, y = b & 0xFFFF;
  return high | (x < y ? x : y);
}
PENSTOCK_HD inline uint32_t greater_pairs(uint32_t a, uint32_t b) {
  const uint32_t high = (a >> 16 < b >> 16 ? b : a) & 0xFFFF0000u, x = a & 0xFFFF, y = b & 0xFFFF;
  return high | (x < y ? y : x);
}
#endif

}  // namespace penstock
