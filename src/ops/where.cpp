// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/arithmetic.h"

namespace penstock {

struct Where : ElementwiseOperator<3> {
  // The first input counts as true if it is not 0 (stage/stage_code.cpp).
  using Lanes = LaneList<float, double, int32_t, int64_t, uint64_t>;
  PENSTOCK_PIXEL(
      template <class V> struct Coef { int32_t unused; };
      template <class V> PENSTOCK_HD static V pixel(V condition, V a, V b, const Coef<V>&) {
        return condition != V(0) ? a : b;
      });

  static Schema<Where> schema() {
    return Schema<Where>("where",
                         "Selects elements as NumPy's where(condition, a, b) does.\n\nThe elements are those of a "
                         "where the condition is not 0, elsewhere those of b. Shapes are broadcast as in NumPy, so "
                         "that one number per sample selects a whole sample. The type of the output is the common "
                         "type of a and b in arithmetic; both are converted as `cast` does. The layout is also "
                         "theirs. Types: all.\n\nExample:\n>>> fn.where(np.bool_([True, False]), np.int32([1, 2]), "
                         "np.int32([10, 20])).tolist()\n[1, 20]")
        .inputs(3)
        .input_names({"condition", "a", "b"})
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const ValueType &a = in[1], &b = in[2];
    const bool known = in[0].ndim >= 0 && a.ndim >= 0 && b.ndim >= 0;
    out[0].ndim = known ? std::max({in[0].ndim, a.ndim, b.ndim}) : -1;
    out[0].layout = common_layout(a.layout, b.layout, out[0].ndim);
    out[0].dtype = a.dtype == DType::none || b.dtype == DType::none ? DType::none : promote(a.dtype, b.dtype);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = penstock::broadcast(in[0], penstock::broadcast(in[1], in[2]));
  }
  Lane lane(std::span<const DType>, DType out) const override { return arithmetic_lane(out); }
  template <class V> Coef<V> coef(int) const { return {}; }
};
PENSTOCK_OPERATOR(Where);

}  // namespace penstock
