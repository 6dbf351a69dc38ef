// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

struct Cast : PixelOperator {
  DType dtype = DType::none;

  static Schema<Cast> schema() {
    return Schema<Cast>(
               "cast",
               "Converts the elements to another type.\n\nFloating point values become integers by rounding half to "
               "even. Integers saturate, and NaN becomes 0. All conversions between the thirteen types follow "
               "these rules exactly.\n\nShapes and layouts: any; the output keeps both. Types: all.\n\n"
               "Example:\n"
               ">>> fn.cast(np.float32([0.5, 1.5, 300.0]), dtype=\"uint8\").tolist()\n"
               "[0, 2, 255]")
        .required("dtype", &Cast::dtype, "Type of the result.")
        .oracle("numpy");
  }
  using Lanes = LaneList<float, double, int64_t, uint64_t>;
  static constexpr bool keeps_values = true;
  DType output_dtype(std::span<const ValueType>) const override { return dtype; }
  Lane lane(std::span<const DType> in, DType out) const override {
    switch (in[0]) {
      case DType::float64: return Lane::f64;
      case DType::uint64: return out == DType::float64 ? Lane::f64 : is_float(out) ? Lane::f32 : Lane::u64;
      case DType::int32:
      case DType::uint32:
      case DType::int64: return out == DType::float64 ? Lane::f64 : is_float(out) ? Lane::f32 : Lane::i64;
      default: return Lane::f32;
    }
  }
  PENSTOCK_PIXEL(template <class V> struct Coef{};
                 template <class V> PENSTOCK_HD static V pixel(V in, Coef<V>) { return in; });
  template <class V> Coef<V> coef(int) const { return {}; }
  // Small integers become float32 over memory: a tile between would be one more pass.
  using Dense = LaneList<uint8_t, int8_t, uint16_t, int16_t>;
  template <class V> using DenseResult = float;
  template <class V> static Coef<V> in_own_type(const Coef<float>&) { return {}; }
  bool dense(DType operands) const { return dtype == DType::float32 && operands != DType::bool_; }
};
PENSTOCK_OPERATOR(Cast);

}  // namespace penstock
