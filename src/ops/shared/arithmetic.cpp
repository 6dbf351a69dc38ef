// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/arithmetic.h"

namespace penstock {

DType promote(DType a, DType b) {
  if (a == b || b == DType::bool_) return a;
  if (a == DType::bool_) return b;
  if (is_float(a) || is_float(b)) {
    if (!is_float(a)) return b;
    if (!is_float(b)) return a;
    if (size_of(a) == size_of(b)) return DType::float32;  // float16 and bfloat16: neither holds the other
    return size_of(a) > size_of(b) ? a : b;
  }
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) > size_of(b) ? a : b;
  const DType with_sign = is_unsigned(a) ? b : a, without = is_unsigned(a) ? a : b;
  switch (std::max(size_of(with_sign), 2 * size_of(without))) {
    case 2: return DType::int16;
    case 4: return DType::int32;
    default: return DType::int64;
  }
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape out;
  const int n = std::max(a.size(), b.size());
  for (int d = 0; d < n; ++d) {
    const int i = d - (n - a.size()), j = d - (n - b.size());
    const int64_t x = i < 0 ? 1 : a[i], y = j < 0 ? 1 : b[j];
    if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1)
      bad_argument("the shapes {} and {} cannot be broadcast: {} and {} in dimension {}", a.text(), b.text(), x, y, d);
    out.push_back(x == 1 ? y : y == 1 ? x : x < 0 ? y : x);
  }
  return out;
}

Layout common_layout(const Layout& a, const Layout& b, int ndim) {
  const Layout& longer = a.size() >= b.size() ? a : b;
  const Layout& shorter = a.size() >= b.size() ? b : a;
  for (int i = 0; i < shorter.size(); ++i)
    if (shorter[i] != longer[longer.size() - shorter.size() + i])
      bad_type("the layouts '{}' and '{}' are incompatible: one must be the end of the other", a.str(), b.str());
  return longer.size() == ndim ? longer : Layout{};
}

Lane arithmetic_lane(DType t) {
  switch (t) {
    case DType::float64: return Lane::f64;
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
    case DType::none: return Lane::f32;
    case DType::uint64: return Lane::u64;
    case DType::uint32:
    case DType::int64: return Lane::i64;
    default: return Lane::i32;
  }
}

}  // namespace penstock
