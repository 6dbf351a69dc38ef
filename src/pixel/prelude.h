// SPDX-License-Identifier: Apache-2.0
// The first lines of every kernel's text. They replace the standard library, which kernels do not have.
// The library itself does not include this file.
#ifndef __CUDACC_RTC__
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#else
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

namespace std {
template <class A, class B> inline constexpr bool is_same_v = false;
template <class A> inline constexpr bool is_same_v<A, A> = true;
template <class T> inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T> inline constexpr bool is_integral_v = false;
template <> inline constexpr bool is_integral_v<bool> = true;
template <> inline constexpr bool is_integral_v<int8_t> = true;
template <> inline constexpr bool is_integral_v<uint8_t> = true;
template <> inline constexpr bool is_integral_v<int16_t> = true;
template <> inline constexpr bool is_integral_v<uint16_t> = true;
template <> inline constexpr bool is_integral_v<int32_t> = true;
template <> inline constexpr bool is_integral_v<uint32_t> = true;
template <> inline constexpr bool is_integral_v<int64_t> = true;
template <> inline constexpr bool is_integral_v<uint64_t> = true;
template <class T> inline constexpr bool is_signed_v = is_floating_point_v<T> || (is_integral_v<T> && T(-1) < T(0));

template <class To, class From> __host__ __device__ constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
template <class T> struct numeric_limits {  // for integers
  __host__ __device__ static constexpr T lowest() {
    return is_signed_v<T> ? static_cast<T>(uint64_t{1} << (sizeof(T) * 8 - 1)) : T(0);
  }
  __host__ __device__ static constexpr T max() { return static_cast<T>(~lowest()); }
};
template <class A, class B> __host__ __device__ constexpr bool cmp_less(A a, B b) {
  if constexpr (is_signed_v<A> == is_signed_v<B>) return a < b;
  else if constexpr (is_signed_v<A>) return a < A(0) || static_cast<uint64_t>(a) < b;
  else return b >= B(0) && a < static_cast<uint64_t>(b);
}
template <class A, class B> __host__ __device__ constexpr bool cmp_greater(A a, B b) { return cmp_less(b, a); }
}  // namespace std
#endif
