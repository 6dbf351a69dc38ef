// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 as storage. Arithmetic is done in float32.
#pragma once
#include <bit>
#include <cstdint>

namespace penstock {

// Round to nearest even, overflow to infinity, NaN kept quiet.
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

struct Half {
  uint16_t bits = 0;
  constexpr Half() = default;
  constexpr explicit Half(float v) : bits(half_bits(v)) {}
  constexpr operator float() const { return half_value(bits); }
};
static_assert(sizeof(Half) == 2);

}  // namespace penstock
