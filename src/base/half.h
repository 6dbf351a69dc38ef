// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 and bfloat16 as storage. Arithmetic is done in float32.
#pragma once
#include <bit>
#include <cstdint>

namespace penstock {

#ifdef __CUDACC__
#define PENSTOCK_HALF_HD __host__ __device__
#else
#define PENSTOCK_HALF_HD
#endif

// Rounds to nearest even; overflow becomes infinity; NaN becomes quiet.
#ifdef __CUDA_ARCH__
__device__ inline uint16_t half_bits(float value) {
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(value));
  return value == value ? h : static_cast<uint16_t>(((std::bit_cast<uint32_t>(value) >> 16) & 0x8000u) | 0x7e00u);
}
__device__ inline float half_value(uint16_t h) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(h));
  return v;
}
#else
constexpr uint16_t half_bits(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (x >> 16) & 0x8000u;
  const uint32_t a = x & 0x7fffffffu;
  if (a > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (a >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  if (a < 0x38800000u) {  // subnormal half: adding 0.5 aligns the mantissa and rounds in hardware
    const float f = std::bit_cast<float>(a) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(f) - 0x3f000000u));
  }
  return static_cast<uint16_t>(sign | ((a + 0xc8000fffu + ((a >> 13) & 1u)) >> 13));
}

constexpr float half_value(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t a = h & 0x7fffu;
  if (a >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((a & 0x3ffu) << 13));
  if (a < 0x400u) {
    const float f = static_cast<float>(a) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(f));
  }
  return std::bit_cast<float>(sign | ((a << 13) + 0x38000000u));
}
#endif

struct Half {
  uint16_t bits = 0;
  constexpr Half() = default;
  PENSTOCK_HALF_HD constexpr explicit Half(float v) : bits(half_bits(v)) {}
  PENSTOCK_HALF_HD constexpr operator float() const { return half_value(bits); }
};
static_assert(sizeof(Half) == 2);

// The upper half of a float32. Rounds to nearest even; NaN becomes quiet and keeps its sign.
PENSTOCK_HALF_HD constexpr uint16_t bfloat16_bits(float value) {
  const uint32_t x = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? ((x >> 16) & 0x8000u) | 0x7fc0u : rounded);
}

struct BFloat16 {
  uint16_t bits = 0;
  constexpr BFloat16() = default;
  PENSTOCK_HALF_HD constexpr explicit BFloat16(float v) : bits(bfloat16_bits(v)) {}
  PENSTOCK_HALF_HD constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
static_assert(sizeof(BFloat16) == 2);

// Types that hold a float32 in 16 bits: numbers of them are read and written as float32.
template <class T> inline constexpr bool kStoresFloat = false;
template <> inline constexpr bool kStoresFloat<Half> = true;
template <> inline constexpr bool kStoresFloat<BFloat16> = true;

}  // namespace penstock
