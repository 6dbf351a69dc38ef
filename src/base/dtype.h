// SPDX-License-Identifier: Apache-2.0
// Element types. The numbers are DALI's, so that scripts that pass integers keep working; DALI has no bfloat16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/half.h"

namespace penstock {

enum class DType : int8_t {
  none = -1,
  uint8 = 0,
  uint16 = 1,
  uint32 = 2,
  uint64 = 3,
  int8 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  float16 = 8,
  float32 = 9,
  float64 = 10,
  bool_ = 11,
  bfloat16 = 13,  // 12 is DALI's string
};

constexpr int kTypes = 14;  // more than any number of a type
constexpr bool is_type(int64_t number) { return number >= 0 && number < kTypes && number != 12; }

constexpr size_t size_of(DType t) {
  constexpr size_t bytes[kTypes] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 1, 0, 2};
  return t == DType::none ? 0 : bytes[static_cast<int>(t)];
}
constexpr bool is_float(DType t) {
  return t == DType::float16 || t == DType::float32 || t == DType::float64 || t == DType::bfloat16;
}
constexpr bool is_unsigned(DType t) { return t == DType::bool_ || (t >= DType::uint8 && t <= DType::uint64); }
constexpr bool is_integer(DType t) { return t >= DType::uint8 && t <= DType::int64; }

const char* name_of(DType t);                 // "uint8", "float16", "bool" ...
DType dtype_from_name(const std::string& s);  // throws on an unknown name

template <class T> struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type of t; throws for DType::none, and for bfloat16, which is a type of storage:
// an operator that computes with elements itself would have a loop more for it.
template <class F>
decltype(auto) dispatch(DType t, F&& f);
// The same of all types, for what every program needs: conversions, filling, numbers of arguments.
template <class F>
decltype(auto) dispatch_stored(DType t, F&& f);

template <class T> constexpr DType dtype_of = DType::none;
template <> inline constexpr DType dtype_of<uint8_t> = DType::uint8;
template <> inline constexpr DType dtype_of<uint16_t> = DType::uint16;
template <> inline constexpr DType dtype_of<uint32_t> = DType::uint32;
template <> inline constexpr DType dtype_of<uint64_t> = DType::uint64;
template <> inline constexpr DType dtype_of<int8_t> = DType::int8;
template <> inline constexpr DType dtype_of<int16_t> = DType::int16;
template <> inline constexpr DType dtype_of<int32_t> = DType::int32;
template <> inline constexpr DType dtype_of<int64_t> = DType::int64;
template <> inline constexpr DType dtype_of<Half> = DType::float16;
template <> inline constexpr DType dtype_of<float> = DType::float32;
template <> inline constexpr DType dtype_of<double> = DType::float64;
template <> inline constexpr DType dtype_of<bool> = DType::bool_;
template <> inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;

[[noreturn]] void fail_dispatch(DType t);

template <class F>
decltype(auto) dispatch(DType t, F&& f) {
  switch (t) {
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::uint32: return f(TypeTag<uint32_t>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::int32: return f(TypeTag<int32_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float16: return f(TypeTag<Half>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::bool_: return f(TypeTag<bool>{});
    default: fail_dispatch(t);
  }
}

template <class F>
decltype(auto) dispatch_stored(DType t, F&& f) {
  if (t == DType::bfloat16) return f(TypeTag<BFloat16>{});
  return dispatch(t, f);
}

}  // namespace penstock
