// SPDX-License-Identifier: Apache-2.0
// Values of arguments that are on the device, and numbers made of them.
#pragma once
#include <cstdint>

#include "base/half.h"
#include "launch/entry.h"
#include "pixel/math.h"

namespace penstock::whole {

// As DType.
enum class ArgumentType : int64_t {
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  float32,
  float64,
  boolean,
  bfloat16 = 13
};

// The upper bits of a number without the `drop` lowest, rounded half to even.
PENSTOCK_KERNEL uint64_t without_low_bits(uint64_t v, int drop) {
  const uint64_t rest = v & ((uint64_t{1} << drop) - 1), half = uint64_t{1} << (drop - 1), kept = v >> drop;
  return kept + (rest > half || (rest == half && (kept & 1)));
}
// float32 of an integer by way of float64, as on the host, and of the bits of a float64: without float64.
PENSTOCK_KERNEL float by_way_of_float64(uint64_t v) {
  float unit = 1;
  int drop = 0;
  for (; v >> drop >> 53; ++drop) unit += unit;
  return static_cast<float>(drop ? without_low_bits(v, drop) : v) * unit;
}
PENSTOCK_KERNEL float from_float64(uint64_t bits) {
  const auto sign = static_cast<uint32_t>(bits >> 32 & 0x80000000u);
  const int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const uint64_t fraction = bits & 0xFFFFFFFFFFFFFu;
  if (exponent == 0x7FF && fraction)
    return std::bit_cast<float>(sign | 0x7FC00000u | static_cast<uint32_t>(fraction >> 29));
  uint64_t magnitude = 0;
  if (exponent > 896) magnitude = without_low_bits(static_cast<uint64_t>(exponent - 896) << 52 | fraction, 29);
  else if (exponent > 870) magnitude = without_low_bits(uint64_t{1} << 52 | fraction, 926 - exponent);  // subnormal
  return std::bit_cast<float>(sign | static_cast<uint32_t>(magnitude > 0x7F800000u ? 0x7F800000u : magnitude));
}

// Element i of an argument's values, as the host reads it: by way of float32.
PENSTOCK_KERNEL float argument_at(const void* values, ArgumentType type, int64_t i) {
  const auto integer = [=](auto* typed) { return static_cast<float>(typed[i]); };
  switch (type) {
    case ArgumentType::uint8: return integer(static_cast<const uint8_t*>(values));
    case ArgumentType::uint16: return integer(static_cast<const uint16_t*>(values));
    case ArgumentType::uint32: return integer(static_cast<const uint32_t*>(values));
    case ArgumentType::uint64: return by_way_of_float64(static_cast<const uint64_t*>(values)[i]);
    case ArgumentType::int8: return integer(static_cast<const int8_t*>(values));
    case ArgumentType::int16: return integer(static_cast<const int16_t*>(values));
    case ArgumentType::int32: return integer(static_cast<const int32_t*>(values));
    case ArgumentType::int64: {
      const int64_t v = static_cast<const int64_t*>(values)[i];
      return v < 0 ? -by_way_of_float64(uint64_t{0} - static_cast<uint64_t>(v))
                   : by_way_of_float64(static_cast<uint64_t>(v));
    }
    case ArgumentType::float16: return static_cast<float>(static_cast<const Half*>(values)[i]);
    case ArgumentType::bfloat16: return static_cast<float>(static_cast<const BFloat16*>(values)[i]);
    case ArgumentType::float64: return from_float64(static_cast<const uint64_t*>(values)[i]);
    case ArgumentType::boolean: return static_cast<const bool*>(values)[i] ? 1.0f : 0.0f;
    default: return static_cast<const float*>(values)[i];
  }
}

// Numbers of results, or one for all where `step` is 0: on the device, or sent along.
struct NumbersRow {
  const double* there;
  InData<double> here;
  int64_t step;
};
static_assert(sizeof(NumbersRow) == 24);
template <class Row> PENSTOCK_KERNEL const double* first_of(const NumbersRow& numbers, const Entry<Row>& e) {
  return numbers.there ? numbers.there : e.at(numbers.here);
}

// Numbers of an argument on the device as float64; as factors, scale / sqrt(v^2 + epsilon), and 0 in place of infinity.
struct GivenRow {
  const void* values;
  ArgumentType type;
  int64_t step;
  double* out;
  bool as_factor;
  double epsilon, scale;
};
static_assert(sizeof(GivenRow) == 56);
PENSTOCK_KERNEL void given_numbers(const Entry<GivenRow>& e) {
  for (int64_t r = e.begin + thread(); r < e.end; r += threads()) {
    double v = static_cast<double>(argument_at(e.row.values, e.row.type, r * e.row.step));
    if (e.row.as_factor) {
      v = sqrt(v * v + e.row.epsilon);
      v = v == 0 ? 0.0 : e.row.scale / v;
    }
    e.row.out[r] = v;
  }
}

}  // namespace penstock::whole
