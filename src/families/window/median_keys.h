// SPDX-License-Identifier: Apache-2.0
// Medians compare keys: integers in the order of the elements. uint8 for elements of one byte, else signed ones.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace penstock::window {

// A key is v ^ flip ^ ((v >> all but one bit) & fold), and an element is the same of its key: floating-point numbers
// below zero are in the opposite order of their bits. -0 is below 0, NaN above or below all by their signs.
struct KeyBits {
  uint64_t flip, fold;
  bool none() const { return (flip | fold) == 0; }
};
inline KeyBits key_bits(DType dtype) {
  const uint64_t sign = uint64_t{1} << (size_of(dtype) * 8 - 1);
  switch (dtype) {
    case DType::int8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64: return {sign, 0};
    case DType::float16:
    case DType::float32:
    case DType::float64: return {0, sign - 1};
    default: return {0, 0};
  }
}

// f(TypeTag<Key>): 64-bit keys are long, as int64_t is.
template <class F> decltype(auto) dispatch_keys(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<int16_t>{});
    case 4: return f(TypeTag<int32_t>{});
    default: return f(TypeTag<int64_t>{});
  }
}

}  // namespace penstock::window
