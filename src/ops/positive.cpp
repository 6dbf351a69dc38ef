// SPDX-License-Identifier: Apache-2.0
#include "operator/operator.h"

namespace penstock {

// A map that moves nothing, as copy: a pixel function would take the bytes through tiles.
struct Positive : MapOperator {
  static Schema<Positive> schema() {
    return Schema<Positive>("_pos", "+a: the same values.\n\nShapes and layouts: any; the output keeps both.")
        .hidden()
        .oracle("dali");
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype == DType::bool_) bad_type("'+' is not defined for bool");
  }
  void map(const SampleContext&, Placement&) const override {}
  int64_t out_extent(const SampleContext&, char, int64_t in) const override { return in; }
};
PENSTOCK_OPERATOR(Positive);

}  // namespace penstock
