// SPDX-License-Identifier: Apache-2.0
// Included once for each target by convert_dense.cpp.

template <class From, class To> void convert_row(const void* from, void* to, int64_t n) {
  const From* __restrict in = static_cast<const From*>(from);
  To* __restrict out = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) out[i] = from_lane<From, To>(in[i]);
    else out[i] = stored<To>(static_cast<NumberOf<From>>(in[i]));
  }
}

template <class From> ConvertRow row_to(DType to) {
  switch (to) {
    case DType::uint8: return convert_row<From, uint8_t>;
    case DType::uint16: return convert_row<From, uint16_t>;
    case DType::int16: return convert_row<From, int16_t>;
    case DType::int32: return convert_row<From, int32_t>;
    case DType::float32: return convert_row<From, float>;
    default: return nullptr;
  }
}

ConvertRow row_of(DType from, DType to) {
  switch (from) {
    case DType::uint8: return row_to<uint8_t>(to);
    case DType::uint16: return row_to<uint16_t>(to);
    case DType::int16: return row_to<int16_t>(to);
    case DType::int32: return row_to<int32_t>(to);
    case DType::float32: return row_to<float>(to);
    default: return nullptr;
  }
}
