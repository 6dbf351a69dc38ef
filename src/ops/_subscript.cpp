// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/index_ranges.h"

namespace penstock {

struct Subscript : IndexRanges {
  static Schema<Subscript> schema() {
    return Schema<Subscript>("_subscript",
                             "Selects a part of an array, as NumPy's x[i, a:b:s, ...] does: the square brackets of "
                             "DataNode.\n\nAn integer index drops its dimension and that dimension's layout letter. "
                             "Types: all.")
        .with(&IndexRanges::arguments<Subscript>)
        .hidden()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim < 0) return;
    check_dimensions(in[0].ndim);
    std::string letters;
    for (int d = 0; d < in[0].ndim; ++d) {
      if (at[d].given()) --out[0].ndim;
      else if (d < in[0].layout.size()) letters += in[0].layout[d];
    }
    out[0].layout = letters;
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    Shape shape;
    for (int d = 0; d < in[0].size(); ++d)
      if (!at[d].given()) shape.push_back(in[0][d] < 0 ? -1 : range(s.index, d, in[0][d]).count);
    out[0] = shape;
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    to.copy(picked(s.index, in[0]), out[0]);
  }
};
PENSTOCK_OPERATOR(Subscript);

}  // namespace penstock
