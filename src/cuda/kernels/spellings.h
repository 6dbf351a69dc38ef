// SPDX-License-Identifier: Apache-2.0
// What host and device compilers spell differently, and conversions between elements and numbers. `penstock_shared` is
// the emulation's (tests/emulated_gpu/one_thread.h).
#pragma once
#include "pixel/convert.h"

#ifdef PENSTOCK_EMULATED
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL
#define PENSTOCK_UNROLL_TWICE
#define PENSTOCK_ROLLED
#define PENSTOCK_NOINLINE
#define PENSTOCK_GLOBAL(pointer)
#else
extern __shared__ __align__(16) char penstock_shared[];
#define PENSTOCK_SHARED(type, name) type* name = reinterpret_cast<type*>(penstock_shared)
#define PENSTOCK_UNROLL _Pragma("unroll")
#define PENSTOCK_UNROLL_TWICE _Pragma("unroll 2")
#define PENSTOCK_ROLLED _Pragma("unroll 1")
#define PENSTOCK_NOINLINE __noinline__
// The addresses in a table point to device memory.
#define PENSTOCK_GLOBAL(pointer) __builtin_assume(__isGlobal(pointer))
#endif
namespace penstock {
template <int n> struct Known {
  static constexpr int value = n;
};
// to_lane. Small unsigned integers do not use the conversion unit, which has a quarter of the rate of arithmetic.
template <class T, class V> PENSTOCK_INLINE V number_of(T v) {
  if constexpr (std::is_same_v<V, float> && (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t>))
    return std::bit_cast<float>(0x4B000000u | v) - 8388608.0f;
  else return to_lane<T, V>(v);
}
// The nearest integer (half to even) in a small type's range, plus 1.5 * 2^23: the low bits hold it. NaN gives 0.
template <class T> PENSTOCK_INLINE float small_integer(float v) {
  constexpr float lo = std::numeric_limits<T>::lowest(), hi = std::numeric_limits<T>::max();
  float c = v > lo ? v : lo;
  c = c < hi ? c : hi;
  if constexpr (std::is_signed_v<T>) c = v == v ? c : 0.0f;
  return c + 12582912.0f;
}
template <class T, class V> inline constexpr bool is_small =
    std::is_same_v<V, float> && std::is_integral_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>;
// The same for a number within the range.
template <class T> PENSTOCK_INLINE T element_within(float v) {
  return static_cast<T>(std::bit_cast<int32_t>(v + 12582912.0f));
}
PENSTOCK_INLINE float rounded_within(float v) { return v + 12582912.0f - 12582912.0f; }
// from_lane and round_to, without the conversion unit where possible.
template <class V, class T> PENSTOCK_INLINE T element_of(V v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
  if constexpr (std::is_same_v<T, uint8_t> && std::is_same_v<V, float>) {  // one instruction; NaN gives 0, too
    uint32_t byte;
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(byte) : "f"(v));
    return static_cast<uint8_t>(byte);
  }
#endif
  if constexpr (is_small<T, V>) return static_cast<T>(std::bit_cast<int32_t>(small_integer<T>(v)));
  else return from_lane<V, T>(v);
}
template <class T, class V> PENSTOCK_INLINE V rounded_to(V v) {
  if constexpr (is_small<T, V>) return small_integer<T>(v) - 12582912.0f;
  else return round_to<T>(v);
}

}  // namespace penstock
