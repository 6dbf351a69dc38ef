// SPDX-License-Identifier: Apache-2.0
#include "operator/broadcast.h"
#include "ops/shared/index_ranges.h"

namespace penstock {

struct Assign : IndexRanges {
  static Schema<Assign> schema() {
    return Schema<Assign>(
               "_assign",
               "Writes a value into a part of an array, as NumPy's x[i, a:b:s, ...] = value does. The result is a new "
               "array.\n\nThe second input is broadcast to the part and converted to the type of the first one. Types: "
               "all.")
        .inputs(2)
        .with(&IndexRanges::arguments<Assign>)
        .hidden()
        .in_place()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) check_dimensions(in[0].ndim);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (in[0].data != out[0].data) {  // otherwise the operator works in place
      to.copy(in[0], out[0]);
      to.then();
    }
    const View part = picked(s.index, out[0]), &value = in[1];
    to.copy(broadcast(value, part.shape), part);
  }
};
PENSTOCK_OPERATOR(Assign);

}  // namespace penstock
