// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/shared/axes.h"
#include "operator/operator.h"

namespace penstock {

struct Transpose : WholeOperator {
  Optional<std::vector<int64_t>> perm;
  bool transpose_layout = true;
  Optional<std::string> output_layout;

  static Schema<Transpose> schema() {
    return Schema<Transpose>("transpose",
                             "Permutes the dimensions: dimension i of the output is dimension perm[i] of the input.\n\n"
                             "Layouts: any. Types: all.\n\n"
                             "Example:\n"
                             ">>> fn.transpose(np.zeros((48, 64, 3), np.uint8), perm=[2, 0, 1]).shape\n"
                             "(3, 48, 64)")
        .arg("perm", &Transpose::perm, "One input dimension for each output dimension; default: the reverse order.")
        .arg("transpose_layout", &Transpose::transpose_layout,
             "Permute the letters of the layout too; otherwise the output keeps the layout as it is.")
        .arg("output_layout", &Transpose::output_layout, "Layout of the output, whatever the layout of the input.")
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim < 0 && perm.given()) out[0].ndim = static_cast<int>(perm->size());
    if (output_layout.given()) {
      out[0].layout = Layout(*output_layout);
      if (out[0].ndim >= 0 && !out[0].layout.empty() && out[0].layout.size() != out[0].ndim)
        bad_argument("output_layout '{}' has {} letters for {} dimensions", *output_layout, out[0].layout.size(),
                     out[0].ndim);
    } else if (transpose_layout && !in[0].layout.empty()) {
      std::string letters;
      for (int d : order(in[0].layout.size())) letters += in[0].layout[d];
      out[0].layout = letters;
    }
    if (in[0].ndim >= 0) order(in[0].ndim);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = permuted(in[0]);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    View v = in[0];
    v.shape = permuted(in[0].shape);
    v.strides = permuted(in[0].strides);
    to.copy(v, out[0]);
  }

 private:
  std::vector<int> order(int ndim) const {
    std::vector<int> p = all_axes(ndim);
    if (!perm.given()) {
      std::reverse(p.begin(), p.end());
      return p;
    }
    uint32_t seen = 0;
    for (const int64_t a : *perm)
      if (a >= -ndim && a < ndim) seen |= 1u << (a < 0 ? a + ndim : a);
    if (static_cast<int>(perm->size()) != ndim || seen != (1u << ndim) - 1)
      bad_argument("perm must name each of the {} dimensions once, got {}", ndim, to_text(Value{*perm}));
    return axes_by_number(*perm, ndim);
  }
  Shape permuted(const Shape& s) const {
    Shape r;
    for (int d : order(s.size())) r.push_back(s[d]);
    return r;
  }
};
PENSTOCK_OPERATOR(Transpose);

}  // namespace penstock
