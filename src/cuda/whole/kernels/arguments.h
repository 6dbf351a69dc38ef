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
  boolean
};

// Element i of an argument's values, as the host reads it: by way of float32.
PENSTOCK_KERNEL float argument_at(const void* values, ArgumentType type, int64_t i) {
  const auto integer = [=](auto* typed) { return static_cast<float>(static_cast<double>(typed[i])); };
  switch (type) {
    case ArgumentType::uint8: return integer(static_cast<const uint8_t*>(values));
    case ArgumentType::uint16: return integer(static_cast<const uint16_t*>(values));
    case ArgumentType::uint32: return integer(static_cast<const uint32_t*>(values));
    case ArgumentType::uint64: return integer(static_cast<const uint64_t*>(values));
    case ArgumentType::int8: return integer(static_cast<const int8_t*>(values));
    case ArgumentType::int16: return integer(static_cast<const int16_t*>(values));
    case ArgumentType::int32: return integer(static_cast<const int32_t*>(values));
    case ArgumentType::int64: return integer(static_cast<const int64_t*>(values));
    case ArgumentType::float16: return static_cast<float>(static_cast<const Half*>(values)[i]);
    case ArgumentType::float64: return static_cast<float>(static_cast<const double*>(values)[i]);
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
