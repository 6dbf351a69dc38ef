// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

struct CastLike : WholeOperator {
  static Schema<CastLike> schema() {
    return Schema<CastLike>("cast_like",
                            "Converts the first input to the type of the second one, as `cast` does.\n\nOnly the type "
                            "of the second input is used. Shapes and layouts: any; the output has those of the first "
                            "input. Types: all.\n\nExample:\n>>> fn.cast_like(np.float32([1.5, 2.5]), "
                            "np.int32([0])).tolist()\n[2, 2]")
        .inputs(2)
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].dtype = in[1].dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    to.copy(in[0], out[0]);
  }
};
PENSTOCK_OPERATOR(CastLike);

}  // namespace penstock
