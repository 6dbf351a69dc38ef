// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/machine/arithmetic.h"

namespace penstock {

struct Where {
  static constexpr int operands = 3;  // the first is read as whether it is not 0 (ops/machine/stage_code.cpp)
  using Lanes = LaneList<float, double, int32_t, int64_t, uint64_t>;
  PENSTOCK_PIXEL(
      template <class V> struct Coef { int32_t unused; };
      template <class V> PENSTOCK_HD static V pixel(V condition, V a, V b, const Coef<V>&) {
        return condition != V(0) ? a : b;
      });

  static Schema<Where> schema() {
    return Schema<Where>(
               "where",
               "NumPy's where(condition, a, b): a's elements where the condition is not 0, elsewhere b's.\n\n"
               "Shapes are broadcast as NumPy does, so that one number per sample chooses a whole sample. The type is "
               "the arithmetic operators' common one of a and b, which are converted as `cast` does; the layout is "
               "theirs. Types: all.")
        .inputs(3)
        .input_names({"condition", "a", "b"})
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    const ValueType &a = in[1], &b = in[2];
    const bool known = in[0].ndim >= 0 && a.ndim >= 0 && b.ndim >= 0;
    out[0].ndim = known ? std::max({in[0].ndim, a.ndim, b.ndim}) : -1;
    out[0].layout = common_layout(a.layout, b.layout, out[0].ndim);
    out[0].dtype = a.dtype == DType::none || b.dtype == DType::none ? DType::none : promote(a.dtype, b.dtype);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = penstock::broadcast(in[0], penstock::broadcast(in[1], in[2]));
  }
  Lane lane(std::span<const DType>, DType out) const { return arithmetic_lane(out); }
  template <class V> Coef<V> coef(int) const { return {}; }
};
PENSTOCK_OPERATOR(Where);

}  // namespace penstock
