// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/joined_inputs.h"

namespace penstock {

struct Stack : WholeOperator {
  int axis = 0;
  Optional<std::string> axis_name;

  static Schema<Stack> schema() {
    return Schema<Stack>("stack",
                         "Stacks the inputs along a new axis.\n\nThe inputs have the same dtype and shape. Layouts: "
                         "any; known ones must be equal; without axis_name the output has no layout. Types: all.\n\n"
                         "Example:\n"
                         ">>> fn.stack(np.int32([1, 2]), np.int32([3, 4])).tolist()\n"
                         "[[1, 2], [3, 4]]")
        .inputs(1, kMaxJoined)
        .arg("axis", &Stack::axis, "Position of the new axis in the output; negative numbers count from the end.")
        .arg("axis_name", &Stack::axis_name, "Letter of the new axis in the layout of the output.")
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    ValueType t = joined_type(in);
    const Layout layout = t.layout;
    t.layout = {};
    if (t.ndim >= 0) {
      const int a = axis_index(axis, ++t.ndim);
      if (axis_name.given() && layout.size() == t.ndim - 1)
        t.layout = Layout(layout.str().insert(a, one_letter(*axis_name)));
    }
    if (axis_name.given()) one_letter(*axis_name);
    out[0] = t;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    for (size_t k = 1; k < in.size(); ++k)
      if (in[k].known() && in[0].known() && !(in[k] == in[0]))
        bad_argument("inputs 0 and {} have different shapes {} and {}", k, in[0].text(), in[k].text());
    const int a = axis_index(axis, in[0].size() + 1);
    Shape s;
    for (int d = 0; d <= in[0].size(); ++d)
      s.push_back(d == a ? static_cast<int64_t>(in.size()) : in[0][d < a ? d : d - 1]);
    out[0] = s;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int a = axis_index(axis, out[0].shape.size());
    for (size_t k = 0; k < in.size(); ++k) {
      View part = in[k];
      part.data =
          out[0].as<char>() + static_cast<int64_t>(k) * out[0].strides[a] * static_cast<int64_t>(size_of(out[0].dtype));
      for (int d = 0; d < part.shape.size(); ++d) part.strides[d] = out[0].strides[d < a ? d : d + 1];
      to.copy(in[k], part);
    }
  }
};
PENSTOCK_OPERATOR(Stack);

}  // namespace penstock
